/** Imports form no cycle, those of types included. */
export default {
  forbidden: [{ name: "no-circular", severity: "error", from: {}, to: { circular: true } }],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^src/gen/" },
    // Before compilation, which removes imports of types.
    tsPreCompilationDeps: true,
  },
};
