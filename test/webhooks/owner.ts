// An account of a running product, and its calls of the API.
import assert from 'node:assert/strict'
import type { WebhookReply } from '#contract/webhooks/webhooks.ts'
import type { Ergon } from '../start-ergon.ts'

/** Ten dollars: above the low-water mark. */
const PUSD = '10000000000000'

export interface Owner {
  readonly account: string
  readonly token: string
  call(method: string, path: string, body?: object): Promise<Answered>
  create(url: string, events: readonly string[]): Promise<{ id: string; secret: string }>
  get(id: string): Promise<WebhookReply>
}

type Answered = { readonly status: number; readonly json: Record<string, unknown> }

/** Opens an account with so much test money. */
export async function openOwner(ergon: Ergon, pusd = PUSD): Promise<Owner> {
  const { id: account } = await ergon.control('account.create', { env: 'test' })
  await ergon.control('funds.add', { account, pusd })
  const { token } = await ergon.control('token.create', { account, scope: 'deploy' })
  const call = async (method: string, path: string, body?: object): Promise<Answered> => {
    const answer = await fetch(`${ergon.baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, json: (await answer.json()) as Answered['json'] }
  }
  return {
    account,
    token,
    call,
    async create(url, events) {
      const { status, json } = await call('POST', '/v1/webhooks', { url, events })
      assert.equal(status, 201, JSON.stringify(json))
      return json as { id: string; secret: string }
    },
    async get(id) {
      const { status, json } = await call('GET', `/v1/webhooks/${id}`)
      assert.equal(status, 200, JSON.stringify(json))
      return json as WebhookReply
    },
  }
}
