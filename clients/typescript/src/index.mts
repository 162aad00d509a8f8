// The ECMAScript module is a view of the CommonJS one: there is one copy of each class, so that
// `instanceof` holds in a program that loads both.
export * from "./index.js";
