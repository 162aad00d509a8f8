/** Puts the page together. */

import { call, connection } from "./api.js";
import { CheckTab } from "./check_tab.js";
import { CompareTab } from "./compare_tab.js";
import { ConvertTab } from "./convert_tab.js";
import {
  prepareCopy,
  prepareDialogs,
  prepareExamples,
  prepareToken,
  toClipboard,
} from "./dialogs.js";
import { byId, element, fill } from "./elements.js";
import { InferTab } from "./infer_tab.js";
import { readLink, writeLink } from "./link.js";
import { MessageTab } from "./message_tab.js";
import { Tabs } from "./tabs.js";
import { ToolsPane } from "./tools_pane.js";
import { TranscriptTab } from "./transcript_tab.js";
import { ValidateTab } from "./validate_tab.js";

const LINK_PAUSE_MILLISECONDS = 300;

/** @typedef {import("./tab.js").Tab} Tab */
/** @typedef {import("./dialogs.js").Example} Example */

const version = byId("version", HTMLSelectElement);
const tools = new ToolsPane(() => {
  if (tabs.chosen) {
    current().ask();
    linkSoon();
  }
});
const page = { tools, version: () => version.value, changed: linkSoon };

/** @type {Tab[]} */
const tabList = [
  new ValidateTab(page),
  new CheckTab(page),
  new ConvertTab(page),
  new CompareTab(page),
  new InferTab(page),
  new MessageTab(page),
  new TranscriptTab(page),
];
const tabs = new Tabs(
  tabList.map(({ name }) => name),
  () => {
    current().open();
    current().ask();
    linkSoon();
  },
);

let linkTimer = 0;

/** Returns the tab that is chosen. */
function current() {
  const tab = tabList.find(({ name }) => name === tabs.chosen) ?? tabList[0];
  if (tab === undefined) {
    throw new Error("there are no tabs");
  }
  return tab;
}

/** Writes the address after a pause. */
function linkSoon() {
  clearTimeout(linkTimer);
  linkTimer = setTimeout(linkNow, LINK_PAUSE_MILLISECONDS);
}

/** Writes the address, and returns whether all of the state is in it. */
function linkNow() {
  clearTimeout(linkTimer);
  const chosen = version.value ? { version: version.value } : {};
  return writeLink({ tab: current().name, fields: { ...current().read(), ...chosen } });
}

/**
 * Shows a state, as of a link or an example.
 *
 * @param {import("./link.js").State} state
 */
function show({ tab, fields }) {
  const target = tabList.find(({ name }) => name === tab);
  if (target === undefined) {
    return;
  }
  version.dataset.wanted = fields.version ?? "";
  version.value = version.dataset.wanted;
  tabs.choose(tab);
  if (Object.keys(fields).length > 0) {
    target.write(fields);
    target.ask();
  }
}

/**
 * Returns the fields of an example, as a link would have them.
 *
 * @param {Example} example
 */
function exampleFields({ fields }) {
  const texts = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value, null, 2),
  ]);
  /** @type {Record<string, string>} */
  const result = Object.fromEntries(texts);
  return result;
}

/** Tells in the header whether a server answers. */
function watchConnection() {
  const status = byId("connection");
  const tell = (/** @type {string} */ text, /** @type {string} */ state) => {
    // Announced when it changes only.
    if (status.textContent !== text) {
      status.textContent = text;
      status.dataset.state = state;
    }
  };
  connection.addEventListener("answered", () => tell("Connected", "good"));
  connection.addEventListener("unreachable", () => tell("The server does not answer", "bad"));
}

/** Offers the protocol versions of the server. */
async function readVersions() {
  try {
    const { value } = await call("get-server-info", "{}");
    const chosen = version.value || (version.dataset.wanted ?? "");
    const known = value.protocol_versions.map((/** @type {string} */ name) =>
      element("option", { value: name }, name),
    );
    const initial = `Default (${value.default_protocol_version})`;
    fill(version, element("option", { value: "" }, initial), ...known.reverse());
    version.value = chosen;
  } catch {
    fill(version, element("option", { value: "" }, "Default"));
  }
}

async function start() {
  watchConnection();
  prepareDialogs();
  prepareCopy(() => current().copy());
  prepareToken(() => {
    void readVersions();
    tools.reload();
    current().ask();
  });
  byId("copy-link").addEventListener("click", async (event) => {
    const button = /** @type {HTMLElement} */ (event.currentTarget);
    button.textContent = linkNow() ? await toClipboard(location.href) : "Too large for a link";
    setTimeout(() => (button.textContent = "Copy link"), 2_000);
  });
  version.addEventListener("change", () => {
    current().ask();
    linkSoon();
  });
  window.addEventListener("hashchange", () => {
    const state = readLink();
    if (state) {
      show(state);
    }
  });
  /** @type {[Response, void]} */
  const [file] = await Promise.all([fetch("page/examples.json"), readVersions()]);
  /** @type {Example[]} */
  const examples = await file.json();
  const showExample = (/** @type {Example} */ example) =>
    show({ tab: example.tab, fields: exampleFields(example) });
  prepareExamples(examples, showExample);
  for (const name of ["compare", "infer", "message", "transcript", "validate"]) {
    // Something to look at, until somebody brings their own.
    const example = examples.find(({ tab }) => tab === name);
    const tab = tabList.find((each) => each.name === name);
    if (example && tab) {
      tab.write(exampleFields(example));
    }
  }
  show(readLink() ?? { tab: "validate", fields: {} });
  document.body.dataset.ready = "";
}

void start();
