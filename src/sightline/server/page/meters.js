// The tab Meters: people and known lengths as yardsticks, distances with error bars.

import { send, work } from "./api.js";
import { lensWords, valueWords } from "./depth.js";
import { complain, find, findAll, hush, make, notes } from "./dom.js";
import { offer } from "./saving.js";
import { Stage } from "./stage.js";

const NOTHING = "Nothing of known size"; // how the server begins to say so
const HINTS = {
  measure: ["Click two points to read the distance between them.", "Now the other end."],
  known: ["Click both ends of something whose length you know.", "Now the other end."],
};

export class MetersTab {
  constructor(panel, source) {
    Object.assign(this, { panel, source, fresh: false, first: null, pair: null, lengths: [], found: [] });
    this.stage = new Stage(find(".stage-here", panel), {
      label: "The picture, to measure in.",
      pick: (place) => this.#pick(place),
      hover: (place) => this.#read(place),
      undo: () => this.#undo(),
    });
    for (const radio of findAll("input[name=mode]", panel)) radio.onchange = () => this.#drop();
    find(".use-people", panel).onchange = () => this.run();
    find("form.length", panel).onsubmit = (event) => this.#useLength(event);
    find(".fov", panel).onchange = () => this.run();
    find(".drop", panel).onclick = () => this.#drop();
    source.addEventListener("change", () => {
      Object.assign(this, { fresh: false, lengths: [] });
      find(".use-people", panel).checked = true;
      find(".fov", panel).value = "";
    });
  }

  get mode() { return find("input[name=mode]:checked", this.panel).value; }

  open() {
    if (!this.fresh && this.source.current) this.run();
  }

  async run() {
    const picture = this.source.current;
    if (!picture) return;
    this.fresh = true;
    this.running?.abort();
    const running = (this.running = new AbortController());
    this.#begin(picture);
    if (picture.film) {
      this.#hint("Meters are for photographs: choose one above.");
      return;
    }
    const people = find(".use-people", this.panel).checked;
    if (!people && !this.lengths.length) {
      find("input[value=known]", this.panel).checked = true;
      this.#hint("Nothing of known size yet. Click both ends of something whose length you know.");
      return;
    }
    try {
      const form = new FormData();
      form.append("image", picture.file, picture.name);
      form.append("people", String(people));
      for (const one of this.lengths) form.append("length", `${one.from},${one.to}=${one.text}`);
      const fov = find(".fov", this.panel).value;
      if (fov) form.append("fov", fov);
      this.stage.busy("sending");
      const result = await work("v1/metric", form, {
        place: find(".job", this.panel), signal: running.signal, again: () => this.run(),
        tell: (words) => this.stage.busy(words || "working"),
      });
      await this.#show(picture, result, running.signal);
    } catch (error) {
      if (running === this.running) this.#failed(picture, error);
    } finally {
      if (running === this.running) this.stage.busy("");
    }
  }

  #begin(picture) {
    hush();
    this.stage.busy(""); // what was on its way before is not wanted any more
    this.result?.forget();
    Object.assign(this, { result: null, facts: null, numbers: null, first: null, pair: null, found: [] });
    find(".work", this.panel).hidden = false;
    find(".save", this.panel).hidden = true;
    find(".warnings", this.panel).hidden = true;
    find(".value", this.panel).textContent = "\u00a0";
    find(".persons", this.panel).replaceChildren();
    find("form.length", this.panel).hidden = true;
    notes(find(".notes", this.panel), []);
    this.stage.show({ under: picture.seen ? picture.url : null, width: picture.width, height: picture.height, film: picture.film });
    this.#lists();
    this.#hint("");
  }

  // Without anybody in the picture a length can still be given.
  #failed(picture, error) {
    const alone = error.message?.startsWith(NOTHING) && !this.lengths.length;
    complain(alone ? new Error(`${NOTHING} was found`) : error); // what to do about it is in the hint
    find(".work", this.panel).hidden = !picture.seen; // nothing to see, and nothing to click
    if (!alone) return;
    find("input[value=known]", this.panel).checked = true;
    this.#hint("Nobody of known size was found. Click both ends of something whose length you know.");
  }

  async #show(picture, result, signal) {
    const facts = await result.json();
    const [colors, numbers] = await Promise.all([result.blob("color"), result.numbers()]);
    if (signal.aborted) return;
    Object.assign(this, { result, facts, numbers });
    if (this.colors) URL.revokeObjectURL(this.colors);
    this.colors = URL.createObjectURL(colors);
    if (!picture.seen) this.stage.show({ under: null, width: facts.width, height: facts.height });
    this.stage.cover(this.colors, 100);
    find(".fov", this.panel).placeholder = facts.camera ? facts.camera.fov.toFixed(0) : "?";
    find(".near", this.panel).textContent = `${facts.low.toFixed(1)} m`;
    find(".far", this.panel).textContent = `${facts.high.toFixed(1)} m`;
    this.#people(facts);
    const warnings = find(".warnings", this.panel);
    const told = new Set(facts.people.flatMap((one) => one.warnings.map((line) => `${one.name}: ${line}`)));
    const others = facts.warnings.filter((line) => !told.has(line)); // those of a person stand beside the person
    const here = (line) => line.replace("set it with fov", "give the lens if you know it");
    find("ul", warnings).replaceChildren(...others.map((line) => make("li", {}, here(line))));
    warnings.hidden = !others.length;
    offer(find(".files", this.panel), result, `${picture.stem}-meters`);
    find(".save", this.panel).hidden = false;
    notes(find(".notes", this.panel), [
      ["Values", `depth in meters, ${facts.direction}; usually ± ${(100 * facts.median_sigma_share).toFixed(0)} %`],
      ["Lens", lensWords(facts.camera)], ["Made by", facts.model], ["People by", facts.people_found_by],
      ["Took", `${facts.seconds.toFixed(1)} s`],
    ]);
    find("input[value=measure]", this.panel).checked = true;
    this.#drop();
  }

  #people(facts) {
    const items = facts.people.map((one) => make("li", {},
      make("b", {}, one.name.replace(/^./, (c) => c.toUpperCase())), ` ${one.text || "found, but no body could be fitted"}`,
      ...one.warnings.map((line) => make("small", {}, line))));
    if (!items.length && find(".use-people", this.panel).checked) items.push(make("li", {}, "Nobody was found."));
    find(".persons", this.panel).replaceChildren(...items);
  }

  #read(place) {
    const output = find(".value", this.panel);
    if (!this.numbers || !place) { output.textContent = "\u00a0"; return; }
    output.textContent = `${valueWords(this.numbers, this.facts, place)} deep at ${place.join(", ")}`;
  }

  async #pick(place) {
    if (this.source.current?.film) return;
    if (this.mode === "measure" && !this.result) return;
    if (!this.first) {
      this.first = place;
      this.#marks();
      this.#hint(HINTS[this.mode][1]);
      return;
    }
    const pair = { from: this.first, to: place };
    this.first = null;
    if (this.mode === "known") this.#askLength(pair);
    else await this.#measure(pair);
  }

  async #measure(pair) {
    const { result } = this;
    const entry = { ...pair, label: "…" };
    this.found.push(entry);
    this.#marks();
    try {
      const form = new FormData();
      form.append("from", String(pair.from));
      form.append("to", String(pair.to));
      form.append("job", result.id);
      entry.facts = await (await send("v1/measure", { method: "POST", body: form })).json();
      entry.label = entry.facts.distance.text;
    } catch (error) {
      this.found = this.found.filter((one) => one !== entry);
      if (result === this.result) complain(error);
    }
    if (result !== this.result) return; // of another picture
    if (!this.first && !this.pair) this.#hint(HINTS[this.mode][0]);
    this.#lists();
  }

  #askLength(pair) {
    this.pair = pair;
    this.#marks();
    this.#hint("");
    const form = find("form.length", this.panel);
    form.hidden = false;
    find("input", form).focus();
  }

  #useLength(event) {
    event.preventDefault();
    const field = find("form.length input", this.panel);
    const text = field.value.replace(",", ".").replaceAll(" ", "");
    if (!/^\d*\.?\d+(m|cm|mm|km|ft|in)(±\d*\.?\d+(m|cm|mm|km|ft|in|%))?$/.test(text)) {
      complain(new Error("Write the length with its unit, such as 0.9 m or 35 cm"));
      field.focus();
      return;
    }
    this.lengths.push({ ...this.pair, text, shown: field.value.trim() });
    field.value = "";
    // A length that is known says more than a guess about people: those stay only if they were found.
    if (!this.facts?.people.length) find(".use-people", this.panel).checked = false;
    this.run();
  }

  #drop() {
    Object.assign(this, { first: null, pair: null });
    find("form.length", this.panel).hidden = true;
    this.#hint(this.mode === "known" || this.result ? HINTS[this.mode][0] : "");
    this.#lists();
  }

  #undo() {
    if (this.first || this.pair) { this.#drop(); return; }
    this.found.pop();
    this.#lists();
  }

  #hint(words) { find(".hint", this.panel).textContent = words; }

  #lists() {
    find(".distances", this.panel).replaceChildren(...this.found.map((one) => {
      const way = one.facts && [["right", "right", "left"], ["down", "down", "up"], ["farther", "farther", "nearer"]]
        .map(([key, more, less]) => {
          const { value, unit } = one.facts[key];
          return `${Math.abs(value).toFixed(2)} ${unit} ${value < 0 ? less : more}`;
        }).join(", ");
      return make("li", {}, make("b", {}, one.label), make("small", {}, way || ""),
        remove("Remove this distance", () => { this.found = this.found.filter((other) => other !== one); this.#lists(); }));
    }));
    find(".lengths", this.panel).replaceChildren(...this.lengths.map((one) => make("li", {},
      make("b", {}, one.shown), ` between ${one.from.join(", ")} and ${one.to.join(", ")}`,
      remove("Remove this length", () => { this.lengths = this.lengths.filter((other) => other !== one); this.run(); }))));
    this.#marks();
  }

  #marks() {
    const marks = (this.facts?.people || []).map((one) => ({
      kind: "person", outline: one.outline, box: one.box,
      label: one.height_m === null ? one.name : one.text,
    }));
    for (const one of this.lengths) marks.push({ kind: "line", known: true, from: one.from, to: one.to, label: one.shown });
    for (const one of this.found) marks.push({ kind: "line", from: one.from, to: one.to, label: one.label });
    if (this.pair) marks.push({ kind: "line", known: true, ...this.pair });
    if (this.first) marks.push({ kind: "point", at: this.first });
    this.stage.setMarks(marks);
  }
}

const remove = (label, act) => make("button", { type: "button", ariaLabel: label, title: label, onclick: act }, "✕");
