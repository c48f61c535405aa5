// A caller of the payments of a running product.
import type { Scope } from '#contract/operation.ts'
import type { Ergon } from '../start-ergon.ts'

export type Answer = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON. */
  readonly json: Readonly<Record<string, unknown>>
}

export type Payer = {
  readonly account: string
  readonly token: string
  call(
    method: string,
    path: string,
    body?: unknown,
    more?: Readonly<Record<string, string>>,
  ): Promise<Answer>
}

/** A new account without money, with a token. */
export async function newPayer(
  ergon: Ergon,
  options: { readonly env?: 'live' | 'test'; readonly scope?: Scope } = {},
): Promise<Payer> {
  const { env = 'test', scope = 'billing-admin' } = options
  const { id: account } = await ergon.control('account.create', { env })
  const { token } = await ergon.control('token.create', { account, scope })
  return { account, token, call: (...asked) => call(ergon, token, asked) }
}

async function call(
  ergon: Ergon,
  token: string,
  [method, path, body, more = {}]: Parameters<Payer['call']>,
): Promise<Answer> {
  const answer = await fetch(ergon.baseUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...more,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  const isJson = /[/+]json\b/.test(answer.headers.get('content-type') ?? '')
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    json: (isJson ? JSON.parse(text) : {}) as Answer['json'],
  }
}

type Entry = {
  readonly id: string
  readonly kind: string
  readonly amount_pusd: string
  readonly energy_nj: string | null
  readonly reference: string | null
  readonly request_id: string | null
}
type Sums = { readonly entries: number; readonly in_pusd: string; readonly out_pusd: string }
type Page = {
  readonly data: Entry[]
  readonly next_cursor: string | null
  readonly sums: Sums | null
}

/** All pages of one walk over the ledger; `between` runs before each page but the first. */
export async function walkLedger(
  payer: Payer,
  query: string,
  between: () => Promise<unknown> = async () => undefined,
): Promise<{ readonly entries: readonly Entry[]; readonly sums: Sums | null }> {
  const entries: Entry[] = []
  let sums: Sums | null = null
  for (let cursor: string | null = ''; cursor !== null;) {
    if (cursor !== '') await between()
    const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const answer = await payer.call('GET', `/v1/ledger?${query}${after}`)
    if (answer.status !== 200) throw new TypeError(answer.text)
    const page = answer.json as Page
    entries.push(...page.data)
    sums ??= page.sums
    cursor = page.next_cursor
  }
  return { entries, sums }
}

export const total = (entries: readonly Entry[]): bigint =>
  entries.reduce((sum, { amount_pusd: amount }) => sum + BigInt(amount), 0n)
