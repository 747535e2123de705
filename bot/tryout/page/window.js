// Inside one of simcord's windows: what a message's menu has, and a word on messages that are too long.

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

const more = Object.assign(document.createElement("button"), { type: "button", className: "aside-more", textContent: "⋯", title: "More", hidden: true });
more.addEventListener("click", () => {
  const box = more.getBoundingClientRect();
  if (more.message) open(more.message, box.left, box.bottom + 4);
});
document.body.append(more);

document.addEventListener("mouseover", (event) => {
  const message = event.target.closest?.(".channel-message");
  if (message && !event.target.closest("button")) {
    const box = message.getBoundingClientRect();
    more.message = message;
    more.hidden = false;
    more.style.top = `${Math.max(4, box.top)}px`;
  } else if (event.target !== more) more.hidden = true;
});
document.addEventListener("contextmenu", (event) => {
  const message = event.target.closest?.(".channel-message");
  if (!message) return;
  event.preventDefault();
  const box = message.getBoundingClientRect();
  open(message, event.clientX || box.left + 60, event.clientY || box.top + 20);
});
document.addEventListener("click", (event) => { if (menu && !menu.contains(event.target) && event.target !== more) close(); });
document.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
document.addEventListener("paste", (event) => {
  const field = event.target;
  const pasted = event.clipboardData?.getData("text") ?? "";
  if (field.value !== undefined && field.value.length + pasted.length > LONGEST) {
    aside.tell(`Discord takes ${LONGEST.toLocaleString()} characters a message: the rest of what you pasted was left out.`);
  }
});

// What simcord refused: it says so in its toolbar, which is hidden here.
let refused = null;
setInterval(() => {
  const action = window.simcordPreview?.lastAction;
  if (!action || action.requestId === refused) return;
  refused = action.requestId;
  if (action.rejected || action.uncertain) aside.tell(`That was not done. ${action.diagnostics.map((one) => one.message ?? one.code).join(" ")}`);
}, 300);
