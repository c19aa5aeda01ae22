// Small helpers to build and find elements; text is always set as text.

export const find = (selector, root = document) => root.querySelector(selector);
export const findAll = (selector, root = document) => [...root.querySelectorAll(selector)];

function fill(node, properties, children) {
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key in node && !(node instanceof SVGElement)) node[key] = value;
    else node.setAttribute(key, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

export const make = (name, properties = {}, ...children) =>
  fill(document.createElement(name), properties, children);

export const draw = (name, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

export const copy = (id) => document.getElementById(id).content.firstElementChild.cloneNode(true);

// Words and their meaning, in a row.
export function notes(list, entries) {
  list.replaceChildren(
    ...entries
      .filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, String(value)))),
  );
}

// Say that something went wrong; stays until it is closed or something else goes wrong.
export function complain(error) {
  if (error && error.name === "AbortError") return;
  const box = find(".toasts");
  const toast = make(
    "div", { className: "toast" },
    make("span", {}, sentence(error)),
    make("button", { type: "button", ariaLabel: "Close the message", onclick: () => toast.remove() }, "✕"),
  );
  box.replaceChildren(toast);
  setTimeout(() => toast.remove(), 20000);
}

export const hush = () => find(".toasts").replaceChildren();

function sentence(error) {
  const words = (error && error.message) || String(error);
  const whole = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?…]$/.test(whole) ? whole : whole + ".";
}

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// Call `act` once the calls stop coming for a moment; `drop()` takes back one that is to come.
export function afterPause(act, pause) {
  let timer = 0;
  const call = (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...given), pause);
  };
  call.drop = () => clearTimeout(timer);
  return call;
}
