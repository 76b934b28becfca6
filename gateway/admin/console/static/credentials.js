// What proves who is here: kept for this tab only, and sent by our own calls only, so that no other site's page can use
// it as it could a cookie.

const NAMES = ["token", "key"];

export function credentials() {
  return Object.fromEntries(NAMES.map((name) => [name, sessionStorage.getItem(`fencegate.${name}`) ?? ""]));
}

export function remember(given) {
  for (const name of NAMES) {
    if (name in given) {
      if (given[name]) sessionStorage.setItem(`fencegate.${name}`, given[name]);
      else sessionStorage.removeItem(`fencegate.${name}`);
    }
  }
}

export function forget() {
  remember({ token: "", key: "" });
}

/** Whether only an approver's key is known, which shows what waits for an approval and nothing else. */
export function isApproverOnly() {
  const { token, key } = credentials();
  return key !== "" && token === "";
}

export function headers() {
  const { token, key } = credentials();
  return { ...(token && { Authorization: `Bearer ${token}` }), ...(key && { "Fencegate-Key": key }) };
}
