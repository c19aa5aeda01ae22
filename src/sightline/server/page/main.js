// Start: tabs, look, token, models; each tab is a file of its own.

import { getJson, takeToken } from "./api.js";
import { AskTab } from "./ask.js";
import { DepthTab } from "./depth.js";
import { complain, copy, find, findAll, make, notes } from "./dom.js";
import { MetersTab } from "./meters.js";
import { PhysicsTab } from "./physics.js";
import { Source } from "./picture.js";

// -------------------------------------------------------------- light, dark, or as the system
const LOOKS = { auto: "as the system", light: "light", dark: "dark" };

function setUpLook() {
  const button = find("button.look");
  const root = document.documentElement;
  const say = () => {
    const words = LOOKS[root.dataset.look || "auto"];
    button.setAttribute("aria-label", `Look: ${words}`);
    button.title = `Look: ${words}`;
  };
  button.onclick = () => {
    const names = Object.keys(LOOKS);
    const next = names[(names.indexOf(root.dataset.look || "auto") + 1) % names.length];
    if (next === "auto") delete root.dataset.look; else root.dataset.look = next;
    localStorage.setItem("look", next);
    root.dispatchEvent(new Event("look"));
    say();
  };
  say();
}

// -------------------------------------------------------------- tabs
function setUpTabs(tabs, source) {
  const buttons = findAll("[role=tab]");
  const names = buttons.map((button) => button.id.slice("tab-".length));
  const open = (name, focus) => {
    for (const button of buttons) {
      const chosen = button.id === `tab-${name}`;
      button.setAttribute("aria-selected", String(chosen));
      button.tabIndex = chosen ? 0 : -1;
      if (chosen && focus) button.focus();
      document.getElementById(button.getAttribute("aria-controls")).hidden = !chosen;
    }
    const slot = find(`#panel-${name} .slot`);
    slot?.append(source.root);
    find(".with-video", source.root).hidden = name !== "depth";
    history.replaceState(null, "", name === "depth" ? location.pathname : `#${name}`);
    tabs.now = name;
    tabs[name].open();
  };
  const ways = { ArrowRight: 1, ArrowLeft: -1 };
  for (const [k, button] of buttons.entries()) {
    button.onclick = () => open(names[k]);
    button.onkeydown = (event) => {
      const to = event.key === "Home" ? 0 : event.key === "End" ? names.length - 1
        : ways[event.key] ? (k + ways[event.key] + names.length) % names.length : -1;
      if (to < 0) return;
      event.preventDefault();
      open(names[to], true);
    };
  }
  const wanted = () => (names.includes(location.hash.slice(1)) ? location.hash.slice(1) : "depth");
  addEventListener("hashchange", () => open(wanted()));
  open(wanted());
}

// -------------------------------------------------------------- models of this server
function setUpModels({ defaults, models }) {
  const dialog = find("dialog.models");
  find(".cards", dialog).replaceChildren(...models.filter((model) => model.usable || model.downloaded).map((model) => {
    const card = copy("card");
    find("h3", card).append(model.name,
      Object.values(defaults).includes(model.name) ? make("span", { className: "tag" }, "in use") : "");
    find(".what", card).textContent = model.summary;
    notes(find(".notes", card), [
      ["Purpose", model.purpose], ["License", model.license], ["Trained on", model.trained_on],
      ["Size", model.bytes ? `${(model.bytes / 1e6).toFixed(1)} MB` : null],
    ]);
    return card;
  }));
  find(".models-open").onclick = () => dialog.showModal();
}

// Until everything is there nothing can be pressed, and a file that is dropped does not take the page's place.
async function start() {
  takeToken();
  setUpLook();
  for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());
  const [limits, models] = await Promise.all([getJson("v1/limits"), getJson("v1/models")]);
  const source = new Source(find("#source"), limits);
  const tabs = {
    depth: new DepthTab(find("#panel-depth"), source, models),
    meters: new MetersTab(find("#panel-meters"), source),
    ask: new AskTab(find("#panel-ask"), source, models),
    physics: new PhysicsTab(find("#panel-physics"), models, limits),
  };
  setUpTabs(tabs, source);
  setUpModels(models);
  source.addEventListener("change", () => tabs[tabs.now].open());
  source.addEventListener("drop", ({ detail }) => {
    if (tabs.now === "physics") tabs.physics.score(detail); else source.take(detail);
  });
  find(".server").textContent = `Sightline ${limits.version}; everything stays on this server.`;
  for (const part of findAll("[inert]")) part.inert = false;
  document.documentElement.dataset.ready = "yes";
}

start().catch(complain);
