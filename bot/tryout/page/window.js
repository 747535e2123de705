// Inside a simcord window: the menu of a message, links, the composer, and notices.

const aside = window.parent.aside;
const LONGEST = 2000; // characters of a message
let menu = null;

function close() {
  menu?.remove();
  menu = null;
}

function open(message, x, y) {
  close();
  menu = document.createElement("div");
  menu.className = "aside-menu";
  menu.setAttribute("role", "menu");
  menu.append(Object.assign(document.createElement("p"), { textContent: "Apps" }));
  for (const name of aside.menus()) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: name });
    button.setAttribute("role", "menuitem");
    button.addEventListener("click", () => { close(); aside.choose(message.dataset.messageId, name); });
    menu.append(button);
  }
  document.body.append(menu);
  const box = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(4, Math.min(x, innerWidth - box.width - 4))}px`;
  menu.style.top = `${Math.max(4, Math.min(y, innerHeight - box.height - 4))}px`;
  menu.querySelector("button")?.focus();
}

// Add the menu's button to the row of buttons that simcord shows over a message.
document.addEventListener("mouseover", (event) => {
  const message = event.target.closest?.(".channel-message");
  const row = message?.querySelector(".message-context-actions");
  if (!row || row.querySelector(".aside-more")) return;
  const more = Object.assign(document.createElement("button"), { type: "button", className: "message-action-button aside-more", textContent: "⋯", title: "Apps" });
  more.addEventListener("click", (click) => { click.stopPropagation(); open(message, click.clientX, click.clientY); });
  row.append(more);
});
document.addEventListener("contextmenu", (event) => {
  const message = event.target.closest?.(".channel-message");
  if (!message) return;
  event.preventDefault();
  const box = message.getBoundingClientRect();
  open(message, event.clientX || box.left + 60, event.clientY || box.top + 20);
});
document.addEventListener("click", (event) => { if (menu && !menu.contains(event.target)) close(); });
document.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
document.addEventListener("paste", (event) => {
  const field = event.target;
  const pasted = event.clipboardData?.getData("text") ?? "";
  if (field.value !== undefined && field.value.length + pasted.length > LONGEST) {
    aside.tell(`A message can have ${LONGEST.toLocaleString()} characters. The rest of the pasted text was cut off.`);
  }
});

// Start at the end of a channel.
(function begin() {
  if (!window.simcordPreview?.ready) return void setTimeout(begin, 50);
  const timeline = document.getElementById("channel-timeline");
  timeline.scrollTop = timeline.scrollHeight;
})();

// Show channel names in direct messages too.
function named() {
  const texts = document.createTreeWalker(document.getElementById("channel-message-list"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode.data;
    const better = text.replace(/<#(\d+)>/g, (mention, id) => (aside.nameOf(id) ? `#${aside.nameOf(id)}` : mention));
    if (better !== text) texts.currentNode.data = better;
  }
  small();
}

// Render small print in containers. simcord only renders it in plain messages.
function small() {
  const texts = document.createTreeWalker(document.getElementById("channel-message-list"), NodeFilter.SHOW_TEXT);
  const marked = [];
  while (texts.nextNode()) if (texts.currentNode.data.startsWith("-# ")) marked.push(texts.currentNode);
  for (const text of marked) {
    text.replaceWith(Object.assign(document.createElement("small"), { textContent: text.data.slice(3) }));
  }
}
new MutationObserver(named).observe(document.getElementById("channel-message-list"), { childList: true, subtree: true });
// A link to a place on this Discord opens that place.
document.addEventListener("click", (event) => {
  const [, place] = /^https:\/\/discord\.com\/channels\/\d+\/(\d+)/.exec(event.target.closest?.("a")?.href ?? "") ?? [];
  if (!place) return;
  event.preventDefault();
  event.stopPropagation();
  if (aside.nameOf(place)) aside.go(place);
}, true);

document.addEventListener("click", (event) => { if (event.target.closest?.(".markdown-spoiler")) aside.uncovered(); });

// Enter sends, as on Discord. simcord would choose the same option again, add another option, or ignore the key while
// it waits for something else.
const composer = document.getElementById("channel-composer");

function busy() {
  const { pendingAction, awaitingRevision, publishedRevision } = window.simcordPreview;
  return pendingAction || (awaitingRevision ?? 0) > publishedRevision;
}

function send() {
  if (busy()) setTimeout(send, 50);
  else composer.requestSubmit();
}

let steering = false; // whether the person is choosing with the arrow keys

document.addEventListener("keydown", (event) => {
  if (["ArrowUp", "ArrowDown"].includes(event.key)) steering = true;
  if (event.key !== "Enter" || event.isComposing || !event.target.matches?.(".command-option-input, .command-chip")) return;
  const offered = document.querySelector('.command-suggestion[aria-selected="true"] .command-suggestion-label');
  const choosing = offered?.checkVisibility() && (steering || event.target.matches(".command-option-input"));
  steering = false;
  if (choosing && offered.textContent !== event.target.value) return;
  event.preventDefault();
  event.stopPropagation();
  send();
}, true);
document.addEventListener("submit", (event) => {
  if (!busy()) return;
  event.preventDefault();
  event.stopPropagation();
  send();
}, true);

// Show the messages of simcord's hidden toolbar: a rejected action, or a page that has expired.
let refused = null;
let begun = false;
setInterval(() => {
  const { lastAction: action, authorized } = window.simcordPreview ?? {};
  if (begun && !authorized) {
    begun = false;
    fetch(location.pathname).then(() => location.reload());
  }
  begun ||= authorized;
  if (!action || action.requestId === refused) return;
  refused = action.requestId;
  if (action.rejected || action.uncertain) aside.tell(`The action failed. ${action.diagnostics.map((one) => one.message ?? one.code).join(" ")}`);
}, 300);
