// The review queue by keyboard. A decision is sent while the next item has the focus already, and the
// next page is fetched before it is needed. Without this file every button is a form.
const list = document.getElementById("review");
const nothing = document.getElementById("inbox-empty"); // what stands in its place where nothing waits
const many = document.getElementById("review-many");
const KEYS = { a: "approve", b: "keep-both", r: "reject", d: "decide" };
const OF_FAILURES = { approve: "retry", reject: "leave" }; // what the same keys do there
const DOING = {
  approve: "Deciding", "keep-both": "Deciding", reject: "Deciding", decide: "Deciding", undo: "Taking back",
  retry: "Trying again", leave: "Leaving", snooze: "Putting off", assign: "Giving",
};
// What the buttons for several are called.
const WORDS = Object.fromEntries([...(many?.querySelectorAll("[name=verb]") ?? [])].map((button) => [button.value, button.textContent]));
const members = JSON.parse(document.getElementById("review-members")?.textContent ?? "[]");
const AHEAD = 8; // open items left when the next page is fetched
const AGAIN = 20_000; // milliseconds until the server is asked again where it told nothing

const all = () => [...(list?.querySelectorAll(".desk-case") ?? [])]; // none where nothing waits
const open = () => all().filter((item) => !item.classList.contains("is-sent"));
const picked = () => open().filter((item) => item.querySelector("[name=ids]")?.checked);
const decided = []; // groups of items that were decided here, the last one last
let here = null;
let fetching = null;
let sending = Promise.resolve(); // one after the other: an undo must not overtake what it takes back
let unsent = 0;
const underWay = new Set(); // items of which the answer is not there yet

function stand(item) {
  here?.classList.remove("is-here");
  here = item ?? null;
  here?.classList.add("is-here");
  document.getElementById("review-end").hidden = Boolean(here) || Boolean(Number(list.dataset.more));
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

function fetchMore(offset) {
  if (fetching || (offset === undefined && !Number(list.dataset.more))) return;
  fetching = append(offset).finally(() => {
    fetching = null;
    if (!here) go(open()[0]);
  });
}

// What is open here stands first in the server's list as well: so many are left out. What came
// meanwhile may stand before them.
async function append(offset = open().length) {
  const query = new URLSearchParams(location.search);
  query.set("offset", offset);
  const answer = await fetch(`?${query}`);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const more = page.getElementById("review");
  list.dataset.more = more?.dataset.more ?? "0";
  const known = new Set(all().map((item) => item.dataset.id));
  for (const child of [...(more?.children ?? [])]) {
    const group = [...list.querySelectorAll(".desk-group")].at(-1)?.dataset.group;
    if (child.dataset.group ? child.dataset.group !== group : !known.has(child.dataset.id)) list.append(child);
  }
  if (!Number(list.dataset.more)) document.getElementById("review-more")?.remove();
}

// Deciding

// `fields` are what a verb has to know beside its name; `isBack` takes something back.
async function decide(items, verb, fields = {}, isBack = false) {
  if (items.length > 1 && !isBack && !(await sure(verb, items.length))) return;
  if (!isBack) decided.push(items);
  for (const item of items) {
    mark(item, isBack ? `${DOING.undo}…` : `${DOING[verb]}…`);
    underWay.add(item);
  }
  if (!isBack) go(nextOpen(items.at(-1)));
  count();
  unsent += 1;
  sending = sending.then(() => sendAll(items, verb, fields));
  for (const result of await sending) settle(result, verb, isBack);
  for (const item of items) underWay.delete(item);
  unsent -= 1;
  count();
}

// The same key does one thing to cases and another to failures.
async function sendAll(items, verb, fields) {
  const failures = OF_FAILURES[verb] ? items.filter((item) => item.dataset.kind) : [];
  const others = items.filter((item) => !failures.includes(item));
  const parts = [];
  if (others.length) parts.push(...(await send(others, verb, fields)));
  if (failures.length) parts.push(...(await send(failures, OF_FAILURES[verb], fields)));
  return parts;
}

addEventListener("beforeunload", (event) => {
  if (unsent) event.preventDefault();
});

async function send(items, verb, fields) {
  const body = new FormData();
  body.set("csrfmiddlewaretoken", many.elements.csrfmiddlewaretoken.value);
  body.set("verb", verb);
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  for (const item of items) body.append("ids", item.dataset.id);
  for (const choice of verb === "decide" ? items[0].querySelectorAll(".desk-choice") : []) body.append(choice.name, choice.value);
  try {
    const answer = await fetch(many.action, { method: "POST", body, headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    const result = await answer.json();
    show(result);
    for (const item of items) item.dataset.at = result.at;
    return result.results;
  } catch (error) {
    const message = `Not done: ${error.message}`;
    return items.map((item) => ({ id: item.dataset.id, ok: false, message, state: "pending", isLost: true }));
  }
}

function settle({ id, ok, message, state, undo, isLost }, verb, isBack) {
  const item = list.querySelector(`[data-id="${CSS.escape(id)}"]`);
  if (isLost && isBack) {
    decided.push([item]); // it is as it was: decided, and to be taken back
    return mark(item, message, true);
  }
  if (!ok || !undo) forget(item);
  if (verb === "assign" && ok && !isBack) return given(item, message);
  if (state === "pending") {
    reopen(item, ok ? "" : message);
    if (ok && isBack) go(item, "center");
  } else {
    item.dataset.undo = undo;
    mark(item, message, ok && Boolean(undo), ok && state === "decided" && !item.dataset.kind);
  }
}

// What is mine or everybody's to see stays in the list; the rest has gone to somebody else.
function given(item, message) {
  const member = members.find((each) => each.id === item.dataset.assignee);
  item.querySelector(".desk-case__for").textContent = member ? `for ${member.name} · ` : "";
  item.dataset.undo = "assign";
  const isLeft = member && !member.isMe && new URLSearchParams(location.search).get("who") !== "all";
  if (isLeft) return mark(item, message, true);
  forget(item);
  reopen(item, "");
}

// What another person decided is not for `u` to take back.
function forget(item) {
  for (const group of decided) {
    if (group.includes(item)) group.splice(group.indexOf(item), 1);
  }
}

// How many wait and what was done today, as the server counts: in the heading, and in the side bar.
function show({ waiting, badge, today }) {
  const count = document.getElementById("review-count");
  if (count) count.textContent = waiting;
  const day = document.getElementById("review-today");
  if (day) day.textContent = today;
  const item = document.querySelector("#nav-sidebar a[href$='/case/inbox/'] span:nth-of-type(3)");
  if (item) item.textContent = badge;
}

// Others decide, too: an open page asks again when somebody comes back to it, and now and then.
async function recount() {
  const place = list ?? nothing;
  if (document.hidden || unsent || !place) return;
  const answer = await fetch(place.dataset.counts + location.search, { headers: { Accept: "application/json" } });
  if (!answer.ok || unsent) return;
  const counts = await answer.json();
  if (place === nothing) {
    if (counts.waiting !== "0") location.reload();
    return;
  }
  show(counts);
  // More wait than are here, and than come behind them.
  const isMore = parseInt(counts.waiting.replaceAll(",", ""), 10) > open().length;
  if (isMore && !Number(list.dataset.more) && !fetching) fetchMore(0);
}

// What others do is told by the server as it happens.
let soon = null;
function heard(event) {
  const { caseId, state, at } = JSON.parse(event.data);
  const item = caseId && list?.querySelector(`[data-id="${CSS.escape(caseId)}"]`);
  // What an answer said already is no news: one's own decision may be told after it was taken back.
  if (item && !underWay.has(item) && !(at <= item.dataset.at)) {
    const isOpen = !item.classList.contains("is-sent");
    if (isOpen && state !== "open") mark(item, state === "snoozed" ? "Put off by somebody else." : "Decided by somebody else.");
    else if (!isOpen && state === "open" && !item.querySelector(".desk-case__outcome .desk-act")) reopen(item, "");
    if (item === here && item.classList.contains("is-sent")) go(nextOpen(item));
    else if (!here) go(open()[0]); // the last one came back
  }
  clearTimeout(soon);
  soon = setTimeout(recount, 400);
}

// The address says how far the page has read; a stream that is refused does not come again by itself.
function listen(address) {
  const url = new URL(address, location);
  const stream = new EventSource(url);
  for (const kind of ["case.opened", "case.decided", "case.snoozed", "session.failed", "document.failed"]) {
    stream.addEventListener(kind, (event) => {
      url.searchParams.set("lastEventId", event.lastEventId);
      heard(event);
    });
  }
  stream.addEventListener("error", () => {
    if (stream.readyState === EventSource.CLOSED) setTimeout(() => listen(url), AGAIN);
  });
  addEventListener("pagehide", () => stream.close());
}
document.addEventListener("visibilitychange", recount);
addEventListener("focus", recount);
setInterval(recount, AGAIN);

// `isWhole`: the message says by itself what it is about.
function mark(item, message, withUndo = false, isWhole = false) {
  const line = item.querySelector(".desk-case__outcome");
  const about = document.createElement("span");
  about.textContent = isWhole ? message : `${message} ${item.getAttribute("aria-label")}`;
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
  button.addEventListener("click", () => takeBack([item]));
  return button;
}

async function takeBack(items) {
  for (const item of items) {
    const undo = item.dataset.undo || "undo";
    if (undo === "assign") item.dataset.assignee = item.dataset.before ?? "";
    await decide([item], undo, undo === "assign" ? { assignee: item.dataset.assignee } : {}, true);
  }
}

function reopen(item, fault) {
  item.classList.remove("is-sent");
  item.classList.toggle("has-fault", Boolean(fault));
  item.querySelector(".desk-case__outcome").textContent = fault;
}

function undoLast() {
  while (decided.length) {
    const items = decided.pop().filter((item) => item.classList.contains("is-sent"));
    if (items.length) return takeBack(items);
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
  const words = { snooze: "Put off", assign: "Give away", ...WORDS };
  dialog.querySelector("h2").textContent = `${words[verb]}: ${number} cases?`;
  return (await answerOf(dialog)) === "yes";
}

async function answerOf(dialog) {
  dialog.returnValue = "";
  dialog.showModal();
  await new Promise((done) => dialog.addEventListener("close", done, { once: true }));
  return dialog.returnValue;
}

async function putOff(items) {
  const days = await answerOf(document.getElementById("review-rest"));
  if (days) decide(items, "snooze", { days });
}

// The person first, then the others of that workspace; 0 is nobody.
async function giveAway(items) {
  const dialog = document.getElementById("review-whom");
  const own = members.filter((each) => each.workspace === items[0].dataset.workspace);
  const choices = [...own.map((each) => [each.id, each.name]), ["nobody", "Nobody"]];
  dialog.querySelector(".desk-choices").replaceChildren(
    ...choices.map(([value, name], place) => {
      const button = document.createElement("button");
      const key = document.createElement("kbd");
      button.className = "desk-act";
      button.value = value;
      button.dataset.number = value === "nobody" ? "0" : String(place + 1);
      key.textContent = button.dataset.number;
      button.append(key, name);
      return button;
    }),
  );
  const chosen = await answerOf(dialog);
  if (chosen) assign(items, chosen === "nobody" ? "" : chosen);
}

function assign(items, member) {
  for (const item of items) {
    item.dataset.before = item.dataset.assignee;
    item.dataset.assignee = member;
  }
  decide(items, "assign", { assignee: member });
}

function takeMyself(item) {
  const me = members.find((each) => each.isMe && each.workspace === item.dataset.workspace);
  if (me) assign([item], me.id);
}

// It comes again behind the last.
function skip(item) {
  const next = nextOpen(item);
  if (next === item) return;
  list.append(item);
  go(next);
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
  s: (item) => putOff(several(item)),
  t: (item) => giveAway(several(item)),
  m: takeMyself,
  n: skip,
};
const several = (item) => (picked().length ? picked() : [item]);

document.addEventListener("keydown", (event) => {
  const dialog = document.querySelector("dialog[open]");
  if (dialog) return dialog.querySelector(`[data-number="${CSS.escape(event.key)}"]`)?.click();
  if (event.target.matches("textarea, select, input:not([type=checkbox])")) return inBox(event);
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const act = ACTS[event.key] ?? (many && ofHere(event.key));
  if (!act) return;
  event.preventDefault();
  act();
});

const verbOf = (item, verb) => (item.dataset.kind && OF_FAILURES[verb]) || verb;

function ofHere(key) {
  const isOpen = here && !here.classList.contains("is-sent");
  if (KEYS[key] && key !== "d" && picked().length) return () => decide(picked(), KEYS[key]);
  if (!isOpen || (key === "e" && !here.querySelector(".desk-case__edit"))) return undefined;
  if (KEYS[key] && !here.querySelector(`[value="${verbOf(here, KEYS[key])}"]`)) return undefined;
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
  if (event.key === "Enter") decide([item], "approve", { content: event.target.value });
  else go(item);
}

// The same by mouse

list?.addEventListener("submit", (event) => {
  event.preventDefault();
  const item = event.target.closest(".desk-case");
  const isEdited = event.submitter.closest(".desk-case__edit");
  const verb = Object.entries(OF_FAILURES).find(([, own]) => own === event.submitter.value)?.[0] ?? event.submitter.value;
  decide([item], verb, isEdited ? { content: event.target.elements.content.value } : {});
});
list?.addEventListener("change", count);
list?.addEventListener("focusin", (event) => {
  const item = event.target.closest(".desk-case");
  if (item && item !== here) stand(item);
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-key]");
  const item = button?.closest(".desk-case") ?? picked()[0];
  if (button && item) ACTS_HERE[button.dataset.key](item);
});
many?.addEventListener("submit", (event) => {
  event.preventDefault();
  if (picked().length) decide(picked(), event.submitter.value);
});

if (list) go(open()[0]);
for (const address of (list ?? nothing)?.dataset.streams.split(" ").filter(Boolean) ?? []) listen(address);

// Filters that somebody gave a name, kept in this browser.
const views = document.getElementById("inbox-views");
const VIEWS = "inbox-views";
const savedViews = () => JSON.parse(localStorage.getItem(VIEWS) ?? "[]");

function keepViews(saved) {
  localStorage.setItem(VIEWS, JSON.stringify(saved));
  showViews();
}

function showViews() {
  for (const old of views.querySelectorAll("[data-view]")) old.remove();
  for (const { name, query } of savedViews()) {
    const line = document.createElement("li");
    const link = document.createElement("a");
    const remove = document.createElement("button");
    line.dataset.view = name;
    link.href = query || "?";
    link.textContent = name;
    remove.type = "button";
    remove.textContent = "\u00d7";
    remove.setAttribute("aria-label", `Remove the view ${name}`);
    remove.addEventListener("click", () => keepViews(savedViews().filter((each) => each.name !== name)));
    line.append(link, remove);
    views.querySelector("ul").lastElementChild.before(line);
  }
}

views?.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = event.target.querySelector("input").value.trim();
  const others = savedViews().filter((each) => each.name !== name);
  if (name) keepViews([...others, { name, query: location.search }]);
  event.target.reset();
});
if (views) {
  views.hidden = false;
  showViews();
}

// An open menu closes where somebody clicks beside it, or by Escape.
const menus = () => document.querySelectorAll(".desk-filter[open]");
document.addEventListener("click", (event) => {
  for (const menu of menus()) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of menus()) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});
