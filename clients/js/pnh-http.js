// What a client asks for without its socket: what waits for the device, and where the user is. Loaded by pages that want it. Types: pnh-http.d.ts.

/** What waits for the client's device, oldest first; `next` of a page is the `after` of the one that follows it. */
export async function inbox(client, { after } = {}) {
  const { device } = await client.identity();
  return request(client, 'GET', `/v1/inbox?${new URLSearchParams({ device, ...(after && { after }) })}`);
}

/** Takes events out of the inbox; gives how many were in it. */
export async function acknowledge(client, ids) {
  const { device } = await client.identity();
  return (await request(client, 'POST', '/v1/inbox/ack', JSON.stringify({ device, ids }))).acked;
}

/** The user's own live sessions. */
export async function presence(client) {
  const { user } = await client.identity();
  return request(client, 'GET', `/v1/users/${encodeURIComponent(user)}/presence`);
}

/** A request with the client's token; what the hub refuses is thrown, with its `code`. */
export async function request(client, method, path, body) {
  const { hub, token } = await client.identity();
  const answer = await fetch(hub + path, { method, body, headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) } });
  const json = await answer.json().catch(() => ({}));
  if (!answer.ok) throw Object.assign(new Error(json.detail ?? `the hub answers ${answer.status}`), { code: json.code });
  return json;
}
