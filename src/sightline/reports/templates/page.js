"use strict";
// The report: sliders, values under the pointer, and a cloud for each result.
(() => {
  const { readGrid, valueAt, words, showCloud } = sightline;

  function setUpCompare(root, grid) {
    const stage = root.querySelector(".compare");
    const cut = root.querySelector(".cut");
    const output = root.querySelector(".value");
    if (cut) cut.addEventListener("input", () => stage.style.setProperty("--cut", cut.value + "%"));
    stage.addEventListener("pointermove", (event) => {
      const box = stage.getBoundingClientRect();
      const x = (event.clientX - box.left) / box.width, y = (event.clientY - box.top) / box.height;
      if (x >= 0 && y >= 0 && x < 1 && y < 1) output.textContent = words(grid, valueAt(grid, x, y));
    });
    stage.addEventListener("pointerleave", () => { output.textContent = "\u00a0"; });
  }

  async function setUpCloud(root, grid) {
    const image = root.querySelector(".photo") || root.querySelector(".depth");
    await image.decode();
    const cloud = showCloud(root.querySelector(".cloud"), grid, image, (count) => {
      root.querySelector(".renderer").textContent = count.toLocaleString("en") + " points";
    });
    root.querySelector(".reset").addEventListener("click", cloud.front);
  }

  for (const root of document.querySelectorAll(".exhibit")) {
    const grid = readGrid(JSON.parse(root.querySelector(".data").textContent));
    setUpCompare(root, grid);
    setUpCloud(root, grid);
  }

  // Films stand still where the system asks for less motion, and while they are held.
  const calm = "(prefers-reduced-motion: reduce)";
  for (const button of document.querySelectorAll(".hold")) {
    button.addEventListener("click", () => {
      const held = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(held));
      for (const still of document.querySelectorAll("picture source")) still.media = held ? "all" : calm;
    });
  }
})();
