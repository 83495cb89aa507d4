// The review queue by keyboard. A decision is sent while the next item has the focus already, and the
// next page is fetched before it is needed. Without this file every button is a form.
const list = document.getElementById("review");
const many = document.getElementById("review-many");
const KEYS = { a: "approve", b: "keep-both", r: "reject", d: "decide" };
const DOING = { approve: "Approving", "keep-both": "Keeping all", reject: "Rejecting", decide: "Deciding", undo: "Taking back" };
const AHEAD = 8; // open items left when the next page is fetched

const all = () => [...list.querySelectorAll(".desk-case")];
const open = () => all().filter((item) => !item.classList.contains("is-sent"));
const picked = () => open().filter((item) => item.querySelector("[name=ids]")?.checked);
const decided = []; // groups of items that were decided here, the last one last
let here = null;
let fetching = null;
let sending = Promise.resolve(); // one after the other: an undo must not overtake what it takes back
let unsent = 0;

function stand(item) {
  here?.classList.remove("is-here");
  here = item ?? null;
  here?.classList.add("is-here");
  document.getElementById("review-end").hidden = Boolean(here) || Boolean(list.dataset.last);
  if (open().length <= AHEAD) fetchMore();
}

function go(item, block = "nearest") {
  stand(item);
  here?.focus({ preventScroll: true });
  here?.scrollIntoView({ block });
}

function move(by) {
  const items = all();
  const next = items[items.indexOf(here) + by];
  if (next) go(next);
}

// The next open item behind `item`, else the first one.
function nextOpen(item) {
  const items = all();
  const behind = items.slice(items.indexOf(item) + 1);
  return behind.find((each) => !each.classList.contains("is-sent")) ?? open()[0];
}

function fetchMore() {
  if (!list.dataset.last || fetching) return;
  fetching = append(list.dataset.last).finally(() => {
    fetching = null;
    if (!here) go(open()[0]);
  });
}

async function append(last) {
  const answer = await fetch(`?after=${last}`);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const more = page.getElementById("review");
  list.dataset.last = more?.dataset.last ?? "";
  if (more) list.append(...more.children);
  if (!list.dataset.last) document.getElementById("review-more")?.remove();
}

// Deciding

async function decide(items, verb, content) {
  if (items.length > 1 && !(await sure(verb, items.length))) return;
  if (verb !== "undo") decided.push(items);
  for (const item of items) mark(item, `${DOING[verb]}…`);
  if (verb !== "undo") go(nextOpen(items.at(-1)));
  count();
  unsent += 1;
  sending = sending.then(() => send(items, verb, content));
  for (const result of await sending) settle(result, verb);
  unsent -= 1;
  count();
}

addEventListener("beforeunload", (event) => {
  if (unsent) event.preventDefault();
});

async function send(items, verb, content) {
  const body = new FormData();
  body.set("csrfmiddlewaretoken", many.elements.csrfmiddlewaretoken.value);
  body.set("verb", verb);
  if (content !== undefined) body.set("content", content);
  for (const item of items) body.append("ids", item.dataset.id);
  for (const choice of verb === "decide" ? items[0].querySelectorAll(".desk-choice") : []) body.append(choice.name, choice.value);
  try {
    const answer = await fetch(many.action, { method: "POST", body, headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    const result = await answer.json();
    show(result);
    return result.results;
  } catch (error) {
    const message = `Not done: ${error.message}`;
    return items.map((item) => ({ id: item.dataset.id, ok: false, message, state: "pending" }));
  }
}

function settle({ id, ok, message, state }, verb) {
  const item = list.querySelector(`[data-id="${CSS.escape(id)}"]`);
  if (!ok) forget(item);
  if (state === "pending") {
    reopen(item, ok ? "" : message);
    if (ok && verb === "undo") go(item, "center");
  } else {
    mark(item, message, ok);
  }
}

// What another person decided is not for `u` to take back.
function forget(item) {
  for (const group of decided) {
    if (group.includes(item)) group.splice(group.indexOf(item), 1);
  }
}

// How many wait, as the server counts them: in the heading, and in the side bar.
function show({ waiting, badge }) {
  const count = document.getElementById("review-count");
  if (count) count.textContent = waiting;
  const item = document.querySelector("#nav-sidebar a[href$='/case/review/'] span:nth-of-type(3)");
  if (item) item.textContent = badge;
}

// Others decide, too: an open page asks again when somebody comes back to it, and now and then.
async function recount() {
  if (document.hidden || unsent || !list) return;
  const answer = await fetch(list.dataset.counts, { headers: { Accept: "application/json" } });
  if (answer.ok && !unsent) show(await answer.json());
}
document.addEventListener("visibilitychange", recount);
addEventListener("focus", recount);
setInterval(recount, 20_000);

function mark(item, message, withUndo = false) {
  const line = item.querySelector(".desk-case__outcome");
  const about = document.createElement("span");
  about.textContent = `${message} ${item.getAttribute("aria-label")}`;
  line.replaceChildren(about);
  item.classList.add("is-sent");
  item.classList.remove("has-fault");
  const box = item.querySelector("[name=ids]");
  if (box) box.checked = false;
  if (withUndo) line.append(undoButton(item));
}

function undoButton(item) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "desk-act";
  button.innerHTML = "<kbd>u</kbd>Undo";
  button.addEventListener("click", () => decide([item], "undo"));
  return button;
}

function reopen(item, fault) {
  item.classList.remove("is-sent");
  item.classList.toggle("has-fault", Boolean(fault));
  item.querySelector(".desk-case__outcome").textContent = fault;
}

function undoLast() {
  while (decided.length) {
    const items = decided.pop().filter((item) => item.classList.contains("is-sent"));
    if (items.length) return decide(items, "undo");
  }
}

// Several at once

function count() {
  const number = picked().length;
  many.classList.toggle("has-some", number > 0);
  document.getElementById("review-picked").textContent = `${number} selected`;
}

function pick(items, isOn) {
  for (const item of items) item.querySelector("[name=ids]").checked = isOn;
  count();
}

async function sure(verb, number) {
  const dialog = document.getElementById("review-sure");
  const words = { approve: "Approve", "keep-both": "Keep all of", reject: "Reject", decide: "Decide", undo: "Take back" };
  dialog.querySelector("h2").textContent = `${words[verb]} ${number} cases?`;
  dialog.returnValue = "";
  dialog.showModal();
  await new Promise((done) => dialog.addEventListener("close", done, { once: true }));
  return dialog.returnValue === "yes";
}

// Keys

function edit(item) {
  const box = item.querySelector(".desk-case__edit");
  box.open = true;
  box.querySelector("textarea").focus();
  box.querySelector("textarea").select();
}

const ACTS = {
  j: () => move(1), ArrowDown: () => move(1),
  k: () => move(-1), ArrowUp: () => move(-1),
  u: undoLast,
  "?": () => document.getElementById("review-help").showModal(),
};
const ACTS_HERE = {
  e: (item) => edit(item),
  x: (item) => pick([item], !item.querySelector("[name=ids]").checked),
  X: () => pick(open(), picked().length < open().length),
  o: (item) => location.assign(item.querySelector(".desk-case__of a").href),
};

document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]")) return;
  if (event.target.matches("textarea, select, input:not([type=checkbox])")) return inBox(event);
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const act = ACTS[event.key] ?? (many && ofHere(event.key));
  if (!act) return;
  event.preventDefault();
  act();
});

function ofHere(key) {
  const isOpen = here && !here.classList.contains("is-sent");
  if (KEYS[key] && key !== "d" && picked().length) return () => decide(picked(), KEYS[key]);
  if (!isOpen || (key === "d" && !here.querySelector("[value=decide]"))) return undefined;
  if (KEYS[key]) return () => decide([here], KEYS[key]);
  return ACTS_HERE[key] && (() => ACTS_HERE[key](here));
}

// In the box of the edit: Enter, with Ctrl or without, takes the words, Escape leaves it.
function inBox(event) {
  const box = event.target.closest(".desk-case__edit");
  if (!box || event.shiftKey || !["Enter", "Escape"].includes(event.key)) return;
  event.preventDefault();
  const item = box.closest(".desk-case");
  box.open = false;
  if (event.key === "Enter") decide([item], "approve", event.target.value);
  else go(item);
}

// The same by mouse

list?.addEventListener("submit", (event) => {
  event.preventDefault();
  const item = event.target.closest(".desk-case");
  const isEdited = event.submitter.closest(".desk-case__edit");
  decide([item], event.submitter.value, isEdited ? event.target.elements.content.value : undefined);
});
list?.addEventListener("change", count);
list?.addEventListener("focusin", (event) => {
  const item = event.target.closest(".desk-case");
  if (item && item !== here) stand(item);
});
many?.addEventListener("submit", (event) => {
  event.preventDefault();
  if (picked().length) decide(picked(), event.submitter.value);
});

if (list) go(open()[0]);
