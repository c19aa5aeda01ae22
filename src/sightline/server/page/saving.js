// Save a result in every form there is.

import { complain, make } from "./dom.js";

const FORMS = {
  npz: ["npz", "numbers for NumPy, with unit and camera"],
  png16: ["16-bit png", "numbers as a picture of 16 bits"],
  exr: ["exr", "numbers as floating-point EXR"],
  color: ["colors", "the map in colors, JPEG"],
  ply: ["ply", "points with colors"],
  glb: ["glb", "a mesh for any 3D viewer"],
  mp4: ["mp4", "film"],
  mkv: ["16-bit mkv", "numbers as a film of 16 bits, without loss"],
  png: ["sheet", "all frames on one sheet, PNG"],
};
const ENDINGS = { png16: "png", color: "jpg" };

// Fill `place` with a button per form; files are called after `stem`.
export function offer(place, result, stem, labels = {}) {
  place.replaceChildren(
    ...Object.keys(FORMS).filter((form) => result.formats.includes(form)).map((form) => {
      const [label, title] = FORMS[form];
      const name = labels[form] || label;
      const button = make("button", { type: "button", title, onclick: () => save(button, result, form, stem) }, name);
      button.dataset.format = form;
      return button;
    }),
  );
}

async function save(button, result, form, stem) {
  button.disabled = true;
  button.setAttribute("aria-busy", "true");
  try {
    const address = URL.createObjectURL(await result.blob(form));
    const ending = form === "color" || form === "png" ? `-${form === "png" ? "frames" : "colors"}` : "";
    make("a", { href: address, download: `${stem}${ending}.${ENDINGS[form] || form}` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  } catch (error) {
    complain(error);
  } finally {
    button.disabled = false;
    button.removeAttribute("aria-busy");
  }
}
