const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Returns HTML with every value escaped. */
export const html = (parts, ...values) =>
  parts.reduce(
    (text, part, i) =>
      text +
      part +
      (i < values.length
        ? (values[i]?.raw ?? String(values[i] ?? '').replace(/[&<>"']/g, (char) => escapes[char]))
        : ''),
    '',
  );
export const raw = (text) => ({ raw: text });

const style = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{max-width:44rem;margin:0 auto;padding:2rem 1rem}
header{display:flex;justify-content:space-between;align-items:center;gap:1rem;border-bottom:1px solid color-mix(in srgb,currentColor 20%,transparent);padding-bottom:1rem}
h1{font-size:1.4rem;margin:0}button,.button{font:inherit;padding:.6rem 1rem;border-radius:.5rem;border:1px solid color-mix(in srgb,currentColor 30%,transparent);background:transparent;color:inherit;text-decoration:none;cursor:pointer;display:inline-block}
.primary{background:#1f6f54;color:#fff;border-color:#1f6f54}table{border-collapse:collapse;width:100%;margin:1rem 0}th,td{text-align:start;padding:.4rem .5rem;border-bottom:1px solid color-mix(in srgb,currentColor 15%,transparent);vertical-align:top;overflow-wrap:anywhere}
th{width:12rem;font-weight:600}li{margin:.3rem 0}form{display:inline}textarea{font:inherit;width:100%;box-sizing:border-box;padding:.5rem}`;

/** Returns a page of the sample. */
export const page = (
  title,
  body,
  user,
) => html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${raw(style)}</style></head>
<body><header><h1>Notes</h1><nav>${raw(user ? html`<form method="post" action="/logout"><button>Sign out ${user}</button></form>` : '')}</nav></header><main>${raw(body)}</main></body></html>`;

/** Returns a table of claims. */
export const claimsTable = (claims) =>
  html`<table>${raw(
    Object.entries(claims)
      .map(
        ([name, value]) =>
          html`<tr><th scope="row">${name}</th><td>${typeof value === 'object' ? JSON.stringify(value) : value}</td></tr>`,
      )
      .join(''),
  )}</table>`;
