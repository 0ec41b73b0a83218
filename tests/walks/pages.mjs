// What a hub's own pages say, for walks that may use nothing else: a step whose command or address stands on no page fails.
const texts = new Map();

/** The text of a page below /docs, entities resolved. */
export async function page(hub, name) {
  if (!texts.has(name)) {
    const answer = await fetch(`${hub.url}/docs/${name}`);
    if (!answer.ok) {
      throw new Error(`/docs/${name} is answered with ${answer.status}`);
    }

    const html = await answer.text();
    texts.set(name, { html, text: html.replaceAll(/<[^>]*>/g, "").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", "\"").replaceAll("&amp;", "&") });
  }

  return texts.get(name);
}

/** Throws unless the page has the text. */
export async function says(hub, name, text) {
  if (!(await page(hub, name)).text.includes(text)) {
    throw new Error(`/docs/${name} does not say: ${text}`);
  }
}

/** What stands below the heading with that anchor, up to the next heading. */
export async function section(hub, name, anchor) {
  const { html } = await page(hub, name);
  const found = new RegExp(`<h\\d id="${anchor}">[^]*?</h\\d>([^]*?)(?=<h\\d |$)`).exec(html)?.[1]?.replaceAll(/<[^>]*>/g, "").trim();
  if (!found) {
    throw new Error(`/docs/${name} has no section ${anchor}`);
  }

  return found;
}

/** The blocks of code of a page, in their order: language ("" = none) and text. */
export async function blocks(hub, name) {
  const { html } = await page(hub, name);
  return [...html.matchAll(/<pre><code(?: class="language-(\w+)")?>([^]*?)<\/code><\/pre>/g)].map(([, language = "", code]) => ({
    language, text: code.replaceAll(/<[^>]*>/g, "").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", "\"").replaceAll("&amp;", "&"),
  }));
}

/** A request to the hub's API that has to be taken; gives its JSON. */
export async function api(hub, method, path, body, token = hub.key) {
  const answer = await fetch(hub.url + path, { method, headers: { authorization: `Bearer ${token}`, "content-type": "application/json" }, body: body && JSON.stringify(body) });
  if (!answer.ok) {
    throw new Error(`${method} ${path} is answered with ${answer.status}: ${await answer.text()}`);
  }

  return answer.json();
}
