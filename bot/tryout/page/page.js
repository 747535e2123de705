// Our page around simcord's windows: the person whom the visitor plays, the open place, and the guided tour.

const key = location.hash.slice(1);
const POLL = 600; // milliseconds
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const $ = (id) => document.getElementById(id);
const frames = new Map(); // "person/place" → iframe
const seen = new Map(); // "person/place" → number of messages when it was last open
const read = new Set(); // completed steps that only this page can see
let person = "grace";
let place = null;
let latest = null;
let notice = null; // a temporary sentence in the status line

async function ask(path, body) {
  const answer = await fetch(path, { method: "POST", body: JSON.stringify(body), headers: { "X-Aside-Key": key } });
  if (answer.status === 401 || answer.status === 403) throw new Error("This link is out of date. Open the link that `aside try` printed last.");
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.error);
  return value;
}

function tell(sentence) {
  const mine = (notice = sentence);
  status();
  setTimeout(() => { if (notice === mine) { notice = null; status(); } }, 8000);
}

function status() {
  const { thinking, took, model } = latest ?? { thinking: [] };
  const busy = thinking.map((one) => `${one.who} is thinking … ${one.seconds} s`).join("   ");
  const usual = took === null ? (model?.stand_in ? "a reply takes 5 to 20 seconds on two cores" : "the first reply takes longest") : `the last reply took ${Math.round(took)} s`;
  $("status").textContent = notice ?? (busy && `${busy}   (${usual})`);
}

function entry(one) {
  const item = document.createElement("li");
  item.className = one.kind;
  const button = document.createElement("button");
  button.type = "button";
  const name = document.createElement("span");
  name.textContent = { channel: "# ", thread: "⤷ ", dm: "" }[one.kind] + one.name;
  button.append(name);
  const unread = one.messages - (seen.get(`${person}/${one.id}`) ?? 0);
  if (one.id !== place && unread > 0) {
    const badge = document.createElement("span");
    badge.className = "badge";
    badge.textContent = unread;
    badge.title = "new messages";
    button.append(badge);
  }
  if (one.id === place) button.setAttribute("aria-current", "page");
  button.dataset.place = one.id;
  button.addEventListener("click", () => look(person, one.id));
  item.append(button);
  return item;
}

function rebuilt(element, value, make) {
  const now = JSON.stringify([value, person, place, ...value.map((one) => seen.get(`${person}/${one.id}`))]);
  if (element.dataset.now === now) return;
  element.dataset.now = now;
  element.replaceChildren(...value.map(make));
}

function part(one) {
  const button = document.createElement("button");
  button.type = "button";
  button.role = "radio";
  button.ariaChecked = String(one.key === person);
  button.dataset.person = one.key;
  const what = document.createElement("small");
  what.textContent = one.part;
  button.append(one.name, what);
  button.addEventListener("click", () => become(one.key));
  return button;
}

function steps() {
  const done = new Set([...latest.done, ...read]);
  let next = true;
  for (const item of $("steps").children) {
    const over = done.has(item.dataset.step);
    item.classList.toggle("done", over);
    if (!over && next && !item.classList.contains("next")) requestAnimationFrame(() => item.scrollIntoView({ block: "nearest" }));
    item.classList.toggle("next", !over && next);
    if (!over) next = false;
  }
}

function paint() {
  const { server, places, people, model, took, thinking } = latest;
  if (place) {
    const here = places.find((one) => one.id === place);
    seen.set(`${person}/${place}`, here?.messages ?? 0);
    if (here?.kind === "dm" && person === "grace" && latest.done.includes("answer")) read.add("talk");
  }
  $("server").textContent = server;
  rebuilt($("channels"), places.filter((one) => one.kind !== "dm"), entry);
  rebuilt($("talks"), places.filter((one) => one.kind === "dm"), entry);
  rebuilt($("people"), people, part);
  $("model").textContent = model.stand_in
    ? `${model.name} on this machine writes the replies. It is a small stand-in. HER, the model that Aside is made for, plans, feels and speaks far better.`
    : `${model.name} on ${model.device} writes the replies.`;
  if (model.warning) $("model").textContent += ` ${model.warning}`;
  for (const one of document.querySelectorAll("[data-path]")) one.textContent = latest.path[one.dataset.path];
  $("took").textContent = thinking.length ? "The line below the channel shows the progress." : took === null ? "" : `The last reply took ${Math.round(took)} s.`;
  steps();
  status();
}

async function look(as, at) {
  person = as;
  place = at;
  const name = `${as}/${at}`;
  try {
    if (!frames.has(name)) {
      const { address } = await ask("/aside/window", { person: as, place: at, zone });
      if (!frames.has(name)) {
        const frame = document.createElement("iframe");
        frame.src = address;
        frame.title = "Discord";
        frames.set(name, frame);
        $("windows").append(frame);
      }
    }
    if (name !== `${person}/${place}`) return;
    for (const [other, frame] of frames) frame.classList.toggle("shown", other === name);
    await refresh();
  } catch (error) {
    tell(error.message);
  }
}

async function become(other) {
  const here = latest.places.find((one) => one.id === place);
  latest = await ask("/aside/news", { person: other });
  const there = here?.kind === "dm" ? latest.places.find((one) => one.kind === "dm") : latest.places.find((one) => one.id === place);
  await look(other, (there ?? latest.places[0]).id);
}

async function refresh() {
  const as = person;
  const news = await ask("/aside/news", { person: as });
  if (as !== person) return;
  latest = news;
  paint();
}

async function poll() {
  try {
    await refresh();
    $("status").classList.remove("fault");
  } catch (error) {
    $("status").classList.add("fault");
    $("status").textContent = error instanceof TypeError ? "Aside has stopped. Start it again and open the new link." : error.message;
  }
  setTimeout(poll, POLL);
}

$("steps").addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  button.disabled = true;
  try {
    const channel = latest.places[0].id;
    if (button.dataset.go) {
      await become("grace");
      await look("grace", latest.places.find((one) => one.kind === "dm").id);
    } else {
      await look(["join", "speak"].includes(button.dataset.do) ? "ada" : "grace", channel);
      await ask("/aside/step", { step: button.dataset.do });
    }
  } catch (error) {
    tell(error.message);
  }
  button.disabled = false;
});

// The functions that the windows call.
window.aside = {
  tell,
  uncovered: () => { read.add("spoiler"); paint(); },
  menus: () => latest?.menus ?? [],
  nameOf: (id) => latest?.places.find((one) => one.id === id)?.name,
  go: (id) => look(person, id),
  choose: async (message, name) => {
    try {
      await ask("/aside/menu", { person, place, message, name });
    } catch (error) {
      tell(error.message);
    }
  },
};

try {
  latest = await ask("/aside/news", { person });
  await look(person, latest.places[0].id);
} catch (error) {
  $("status").classList.add("fault");
  $("status").textContent = error.message;
}
poll();
