// The tab Ask: points, a question, the chain of the answer, and whether words and perception agree.

import { work } from "./api.js";
import { complain, find, findAll, hush, make } from "./dom.js";
import { Stage } from "./stage.js";

const LETTERS = "ABCDE";

export class AskTab {
  constructor(panel, source, models) {
    Object.assign(this, { panel, source, points: [], reply: null, fresh: false });
    this.able = Boolean(models.defaults.ask);
    this.stage = new Stage(find(".stage-here", panel), {
      label: "The picture, to ask about.",
      pick: (place) => this.#add(place),
      undo: () => { this.points.pop(); this.#changed(); },
    });
    find(".clear", panel).onclick = () => { this.points = []; this.#changed(); };
    find("form.question", panel).onsubmit = (event) => { event.preventDefault(); this.#ask(); };
    for (const chip of findAll(".chips button", panel)) {
      chip.onclick = () => { find("[name=question]", panel).value = chip.textContent; this.#changed(); };
    }
    find("[name=question]", panel).oninput = () => this.#changed();
    if (!this.able) {
      const missing = find(".missing", panel);
      missing.hidden = false;
      missing.replaceChildren(
        "This server has no model that answers questions. The embedded one needs ",
        make("code", {}, "pip install 'sightline[perception]'"), "; another is given by ",
        make("code", {}, "sightline serve --ask-model RUN"), ".");
    }
    source.addEventListener("change", () => { this.fresh = false; });
  }

  open() {
    const picture = this.source.current;
    if (this.fresh || !picture) return;
    this.fresh = true;
    find(".work", this.panel).hidden = false;
    this.points = [];
    this.stage.show({ under: picture.seen ? picture.url : null, width: picture.width, height: picture.height, film: picture.film });
    this.#changed();
  }

  // What was answered belongs to other points or another question now.
  #changed() {
    this.running?.abort();
    this.reply = null;
    find(".answer", this.panel).hidden = true;
    find(".steps", this.panel).hidden = true;
    this.#marks();
  }

  #add(place) {
    if (this.points.length === LETTERS.length) {
      complain(new Error("Five points are the most; Backspace takes the last one back"));
      return;
    }
    this.points.push(place);
    this.#changed();
  }

  #marks() {
    const won = this.reply?.asked === "nearest" ? this.reply.answer : null;
    const marks = this.points.map((at, k) => ({ kind: "letter", at, label: LETTERS[k], won: LETTERS[k] === won }));
    for (const box of this.reply?.boxes || []) marks.push({ kind: "box", box });
    this.stage.setMarks(marks);
    const count = this.points.length;
    find(".hint", this.panel).textContent =
      count === 0 ? "Click two to five points." : count === 1 ? "One more, at least." : `${count} points.`;
    find("form .primary", this.panel).disabled = !this.able || Boolean(this.source.current?.film);
  }

  async #ask() {
    const picture = this.source.current;
    if (!picture || !this.able) return;
    hush();
    this.#changed();
    const running = (this.running = new AbortController());
    const form = new FormData();
    form.append("image", picture.file, picture.name);
    form.append("question", find("[name=question]", this.panel).value);
    this.points.forEach((point, k) => form.append("points", `${LETTERS[k]}=${point}`));
    const button = find("form .primary", this.panel);
    button.disabled = true;
    try {
      const result = await work("v1/ask", form, { place: find(".job", this.panel), signal: running.signal });
      const reply = await result.json();
      if (running === this.running && !running.signal.aborted) this.#show(reply);
    } catch (error) {
      if (running === this.running) complain(error);
    } finally {
      if (running === this.running) this.#marks(); // the button, too
    }
  }

  #show(reply) {
    this.reply = reply;
    const answer = find(".answer", this.panel);
    answer.hidden = false;
    const nothing = reply.asked === "map" ? "Its depth map" : "No answer";
    find(".big", answer).textContent = reply.answer === null ? nothing : String(reply.answer);
    const verdict = find(".verdict", answer);
    verdict.textContent = reply.caution ? `${reply.verdict} Beware: ${reply.caution}.` : reply.verdict;
    verdict.className = `verdict ${reply.agrees === true ? "agrees" : reply.agrees === false ? "differs" : ""}`;
    find(".steps", this.panel).hidden = false;
    find(".chain", this.panel).replaceChildren(...steps(reply.chain));
    const decoded = find(".decoded", this.panel);
    decoded.hidden = !reply.map_png;
    if (reply.map_png) find("img", decoded).src = `data:image/png;base64,${reply.map_png}`;
    find(".said", this.panel).textContent = reply.text;
    this.#marks();
  }
}

// Lines of the chain; a map drawn with characters (its lines begin with blanks) is the picture above them.
function steps(lines) {
  const drawn = (line) => /^\s{2}/.test(line ?? "");
  return lines.flatMap((line, k) => {
    if (drawn(line)) return [];
    return make("li", {}, drawn(lines[k + 1]) ? `${line.split(/[,:]/)[0]}: the picture above` : line);
  });
}
