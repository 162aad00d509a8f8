/** Converts a tool for all APIs, side by side. */

import { Problem } from "./api.js";
import { hereDocument, pythonBytes, pythonMember, pythonText, shellOptions } from "./commands.js";
import { byId, codeSection, element, fill } from "./elements.js";
import { errorHeadline, errorView, showStatus, violationList } from "./findings.js";
import { describePlace } from "./json_fault.js";
import { locate, textAt } from "./json_places.js";
import { format, jsonProperty, objectText, plainProperty } from "./json_text.js";
import { Live } from "./live.js";
import { locateFault } from "./tool_texts.js";

/** @type {ReadonlyArray<readonly [string, string]>} */
const APIS = Object.freeze([
  ["openai-chat", "OpenAI Chat"],
  ["openai-responses", "OpenAI Responses"],
  ["anthropic", "Anthropic"],
  ["gemini", "Gemini"],
  ["gemini-json", "Gemini, JSON Schema"],
  ["bedrock", "Bedrock Converse"],
  ["mistral", "Mistral"],
  ["ollama", "Ollama"],
  ["mcp", "MCP clients"],
]);

/** From the gravest on. */
const EFFECTS = Object.freeze(["narrowed", "widened", "equivalent"]);

/**
 * @typedef {object} Loss
 * @property {string} pointer
 * @property {string} keyword
 * @property {string} action
 * @property {string} effect
 * @property {string} message
 */

/** @typedef {import("./tab.js").Tab} Tab */

/** @implements {Tab} */
export class ConvertTab {
  name = "convert";
  #panel = byId("panel-convert");
  #view = byId("conversions");
  #status = byId("convert-status");
  #modes = /** @type {HTMLInputElement[]} */ ([
    ...this.#panel.querySelectorAll("input[name=mode]"),
  ]);
  #closed = byId("assume-closed", HTMLInputElement);
  #page;
  #live;

  /** @param {import("./tab.js").Page} page */
  constructor(page) {
    this.#page = page;
    this.#live = new Live(() => this.#requests(), {
      show: (answers) => this.#show(answers),
      setPending: (isPending) => this.#view.classList.toggle("pending", isPending),
    });
    for (const control of [...this.#modes, this.#closed]) {
      control.addEventListener("change", () => {
        this.#live.soon();
        page.changed();
      });
    }
  }

  open() {
    this.#page.tools.moveTo(this.#panel, true);
  }

  ask() {
    this.#live.soon();
  }

  read() {
    /** @type {Record<string, string>} */
    const fields = { ...this.#page.tools.read() };
    if (this.#mode !== "compatible") {
      fields.mode = this.#mode;
    }
    if (this.#closed.checked) {
      fields.closed = "yes";
    }
    return fields;
  }

  /** @param {Record<string, string>} fields */
  write(fields) {
    for (const mode of this.#modes) {
      mode.checked = mode.value === (fields.mode ?? "compatible");
    }
    this.#closed.checked = fields.closed === "yes";
    this.#page.tools.write(fields);
  }

  copy() {
    const { tool } = this.#page.tools;
    if (tool === null) {
      return null;
    }
    const [api] = APIS[0] ?? [""];
    const options = [
      `mode=ConversionMode.${pythonMember(this.#mode)}`,
      ...(this.#closed.checked ? ["assume_closed=True"] : []),
    ].join(", ");
    const cliOptions = shellOptions({
      to: api,
      mode: this.#mode,
      "assume-closed": this.#closed.checked,
    });
    return {
      method: "convert-tools",
      body: this.#body(tool, api),
      imports: ["ConversionMode", "ConversionOptions", "ModelApi"],
      python: [
        `tool = ${pythonBytes(tool.text)}`,
        `options = ConversionOptions(${options})`,
        `conversion = client.conversion.convert_tools(ModelApi(${pythonText(api)}), [tool], options=options)`,
        "for converted in conversion.converted:",
        "    print(converted.json)",
        "    for loss in converted.losses:",
        "        print(loss.pointer, loss.keyword, loss.effect.value, loss.message)",
      ].join("\n"),
      cli: `sidecheck convert${cliOptions} - ${hereDocument(tool.text)}`,
      note: `Other APIs have other names: ${APIS.map(([name]) => name).join(", ")}.`,
    };
  }

  get #mode() {
    return this.#modes.find(({ checked }) => checked)?.value ?? "compatible";
  }

  #requests() {
    const { tool } = this.#page.tools;
    if (tool === null) {
      return [];
    }
    return APIS.map(([api]) => ({ method: "convert-tools", body: this.#body(tool, api) }));
  }

  /**
   * @param {import("./tool_texts.js").Tool} tool
   * @param {string} api
   */
  #body(tool, api) {
    const options = objectText(
      plainProperty("mode", this.#mode),
      plainProperty("assume_closed", this.#closed.checked),
      plainProperty("protocol_version", this.#page.version()),
    );
    const sent = objectText(jsonProperty("tool", tool.text));
    return objectText(plainProperty("api", api), `"options": ${options}`, `"tools": [${sent}]`);
  }

  /** @param {PromiseSettledResult<import("./api.js").Answer>[]} answers */
  #show(answers) {
    const { tools } = this.#page;
    tools.show(null);
    if (answers.length === 0) {
      const { headline, isBroken } = tools;
      showStatus(
        this.#status,
        isBroken ? headline : `${headline} to convert`,
        isBroken ? "bad" : "",
      );
      fill(this.#view);
      return;
    }
    const failed = answers.find((answer) => answer.status === "rejected");
    if (failed?.status === "rejected") {
      showStatus(this.#status, errorHeadline(failed.reason), "bad");
      fill(this.#view, errorView(failed.reason, { retry: () => void this.#live.now() }));
      return;
    }
    const broken = commonProblem(answers);
    if (broken !== null) {
      const root = tools.tool?.pointer ?? "";
      const roots = [`${root}/inputSchema`, `${root}/outputSchema`, root];
      const place = (/** @type {{instance_location: string}} */ fault) =>
        locateFault(tools.text, roots, fault.instance_location);
      const view = errorView(new Problem(broken), {
        retry: () => void this.#live.now(),
        choose: (fault) => tools.show(() => place(fault)),
        describe: (fault) => describePlace(tools.text, place(fault).keyStart),
      });
      showStatus(this.#status, `Error: ${broken.title}`, "bad");
      fill(this.#view, view);
      return;
    }
    const cards = answers.map((answer, index) => {
      const [, title] = APIS[index] ?? ["", ""];
      return answer.status === "fulfilled" ? this.#card(title, answer.value) : null;
    });
    const converted = answers.filter(
      (answer) => answer.status === "fulfilled" && answer.value.value.conversions[0]?.converted,
    ).length;
    const tone = converted === answers.length ? "good" : converted > 0 ? "fair" : "bad";
    showStatus(this.#status, `Converted for ${converted} of ${answers.length} APIs`, tone);
    fill(this.#view, ...cards);
  }

  /**
   * @param {string} title
   * @param {import("./api.js").Answer} answer
   */
  #card(title, { value, text }) {
    const { converted, error } = value.conversions[0];
    if (error) {
      return card(title, element("span", { class: "badge error" }, "Not converted"), [
        element("p", {}, error.detail),
      ]);
    }
    const json = textAt(text, "/conversions/0/converted/tool") ?? "";
    const strict = element(
      "span",
      { class: `badge ${converted.strict ? "good" : "info"}` },
      converted.strict ? "Strict" : "Not strict",
    );
    /** @type {Loss[]} */
    const losses = converted.losses;
    const request = value.request?.violations ?? [];
    return card(title, strict, [
      converted.not_strict_reason &&
        element("p", { class: "note" }, `Not strict: ${converted.not_strict_reason}`),
      request.length > 0 && violationList(request, () => {}),
      element("p", { class: "tally" }, tally(losses)),
      losses.length > 0 && this.#lossList(losses),
      codeSection(`Tool for ${title}`, format(json), true),
    ]);
  }

  /** @param {Loss[]} losses */
  #lossList(losses) {
    const items = losses.map((loss) =>
      element(
        "li",
        { class: `finding ${loss.effect}` },
        element(
          "button",
          { type: "button", class: "finding-place", onclick: () => this.#choose(loss) },
          element("span", { class: `badge ${loss.effect}` }, loss.effect),
          element("span", { class: "finding-code" }, loss.keyword || loss.action),
          element("span", { class: "pointer" }, loss.pointer || "(root)"),
          element("span", { class: "finding-message" }, loss.message),
        ),
      ),
    );
    return element("ul", { class: "findings" }, ...items);
  }

  /** @param {Loss} loss */
  #choose({ pointer, keyword }) {
    const { tools } = this.#page;
    const root = tools.tool?.pointer ?? "";
    // A loss is at the schema that has the keyword.
    const inner = keyword ? `/${keyword.replaceAll("~", "~0").replaceAll("/", "~1")}` : "";
    const exact = locate(tools.text, root + pointer + inner);
    const place = exact.isExact ? root + pointer + inner : root + pointer;
    tools.show((text) => locate(text, place));
    const { keyStart, end } = locate(tools.text, place);
    tools.editor.select(keyStart, end);
  }
}

/**
 * Returns the problem of a definition that no API gets, null if one does.
 *
 * @param {PromiseSettledResult<import("./api.js").Answer>[]} answers
 * @returns {import("./api.js").ProblemDetails | null}
 */
function commonProblem(answers) {
  /** @type {(import("./api.js").ProblemDetails | null)[]} */
  const problems = answers.map((answer) =>
    answer.status === "fulfilled" ? (answer.value.value.conversions[0]?.error ?? null) : null,
  );
  const [first] = problems;
  const isCommon = problems.every(
    (problem) => problem?.violations !== undefined && problem.detail === first?.detail,
  );
  return isCommon ? (first ?? null) : null;
}

/**
 * @param {string} title
 * @param {Node} badge
 * @param {import("./elements.js").Child[]} content
 */
function card(title, badge, content) {
  const head = element("div", { class: "part-head" }, element("h3", {}, title), badge);
  return element("section", { class: "card", "aria-label": title }, head, ...content);
}

/** @param {Loss[]} losses */
function tally(losses) {
  if (losses.length === 0) {
    return "No losses";
  }
  const counts = EFFECTS.map((effect) => {
    const count = losses.filter((loss) => loss.effect === effect).length;
    return count > 0 ? `${count} ${effect}` : "";
  });
  const word = losses.length === 1 ? "loss" : "losses";
  return `${losses.length} ${word}: ${counts.filter(Boolean).join(", ")}`;
}
