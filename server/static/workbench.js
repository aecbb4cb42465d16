// Ctrl+Enter (or Cmd+Enter) anywhere in the form runs the query; everything else works without this file.
const form = document.getElementById("ask");
form.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    form.requestSubmit();
  }
});

// Not on touch screens, where focus would open the keyboard over the answer.
if (matchMedia("(pointer: fine)").matches) {
  form.elements.query.focus({ preventScroll: true });
}
