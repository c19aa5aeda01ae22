// The chosen look, set before anything is drawn so that nothing flashes.
(() => {
  const kept = localStorage.getItem("look");
  if (kept === "light" || kept === "dark") document.documentElement.dataset.look = kept;
})();
