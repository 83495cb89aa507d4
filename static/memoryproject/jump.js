// Ctrl-K: a dialog with a combobox; what is typed is asked for, arrows choose, Enter goes there.
document.addEventListener("DOMContentLoaded", () => {
  const dialog = document.getElementById("jump");
  if (!dialog) return;
  const [input, list, status] = ["input", "[role=listbox]", "[role=status]"].map((one) => dialog.querySelector(one));
  let asking, waiting, at = -1;

  function open() {
    if (dialog.open) return;
    dialog.showModal();
    input.value = "";
    ask();
  }

  async function ask() {
    asking?.abort();
    asking = new AbortController();
    try {
      const answer = await fetch(`${dialog.dataset.url}?q=${encodeURIComponent(input.value)}`, { signal: asking.signal });
      show((await answer.json()).results);
    } catch (error) {
      if (error.name !== "AbortError") status.textContent = dialog.dataset.failed;
    }
  }

  function show(results) {
    list.replaceChildren(...results.map(optionOf));
    input.setAttribute("aria-expanded", String(results.length > 0));
    status.textContent = results.length ? `${results.length} ${dialog.dataset.found}` : dialog.dataset.none;
    choose(results.length ? 0 : -1);
  }

  function optionOf(target, index) {
    const option = document.createElement("li");
    option.id = `jump-${index}`;
    option.role = "option";
    option.dataset.url = target.url;
    const [title, note, kind] = [target.title, target.note, target.kind].map((words) => {
      const part = document.createElement("span");
      part.textContent = words;
      return part;
    });
    note.className = kind.className = "desk-quiet desk-small";
    option.append(title, note, kind);
    return option;
  }

  function choose(index) {
    at = index;
    for (const [n, option] of [...list.children].entries()) option.ariaSelected = String(n === at);
    list.children[at]?.scrollIntoView({ block: "nearest" });
    if (at < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", list.children[at].id);
  }

  function go(option, elsewhere) {
    if (!option) return;
    if (elsewhere) window.open(option.dataset.url, "_blank", "noopener");
    else location.assign(option.dataset.url);
  }

  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(ask, 120);
  });
  input.addEventListener("keydown", (event) => {
    const last = list.children.length - 1;
    const to = { ArrowDown: at < last ? at + 1 : 0, ArrowUp: at > 0 ? at - 1 : last, PageDown: last, PageUp: 0 }[event.key];
    if (event.key === "Enter") go(list.children[at], event.ctrlKey || event.metaKey);
    else if (to === undefined || last < 0) return;
    else choose(to);
    event.preventDefault();
  });
  list.addEventListener("click", (event) => go(event.target.closest("[role=option]"), event.ctrlKey || event.metaKey));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    if (dialog.open) dialog.close();
    else open();
  });
  document.addEventListener("click", (event) => event.target.closest("[data-jumps]") && open());
});
