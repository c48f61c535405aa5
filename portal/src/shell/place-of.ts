// The page that shows a thing, from the path of the API that has it.
const PLACES: readonly (readonly [path: RegExp, place: string])[] = [
  [/^\/v1\/receipts\/([^/?]+)$/, '/ledger/$1'],
  [/^\/v1\/databases\/([^/?]+)/, '/databases/$1'],
  [/^\/v1\/functions\/([^/?]+)/, '/functions/$1'],
  [/^\/v1\/workloads\/([^/?]+)/, '/workloads/$1'],
  [/^\/v1\/deployments\/([^/?]+)/, '/deployments/$1'],
  [/^\/v1\/webhooks\/([^/?]+)/, '/webhooks/$1'],
  [/^\/v1\/events\/([^/?]+)/, '/events?event=$1'],
  [/^\/v1\/events/, '/events'],
  [/^\/v1\/webhook-deliveries/, '/webhooks'],
  [/^\/v1\/tokens/, '/tokens'],
  [/^\/v1\/(topups|payment-methods)/, '/balance'],
  [/^\/v1\/members/, '/members'],
  [/^\/v1\/audit/, '/audit'],
  [/^\/v1\/compliance\/packs/, '/evidence'],
]

/** A thing without a page of its own is on the ledger, under its id. */
export function placeOf(path: string, id: string): string {
  const found = PLACES.find(([pattern]) => pattern.test(path))
  if (found === undefined) return `/ledger?id=${encodeURIComponent(id)}`
  const [pattern, place] = found
  return place.replace('$1', pattern.exec(path)?.[1] ?? '')
}
