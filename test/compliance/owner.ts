// An account of a running product, its calls of the API, and its evidence packs.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { PackReply } from '#contract/compliance/compliance.ts'
import type { Ergon } from '../start-ergon.ts'

/** A dollar of test money. */
const PUSD = '1000000000000'
const POLL_MS = 50
const WAIT_MS_MAX = 60_000

type Answered = { readonly status: number; readonly json: Record<string, unknown> }

export interface PackOwner {
  readonly account: string
  readonly token: string
  call(method: string, path: string, body?: object, headers?: object): Promise<Answered>
  /** Makes charges of several kinds: so many reads and refusals, and a change of a token and of an object. */
  spend(reads: number): Promise<void>
  /** Asks for a pack of the time up to now, or to a moment; of an hour, or from a moment on. */
  ask(to?: Date, from?: Date): Promise<PackReply>
  get(id: string): Promise<PackReply>
  /** Resolves when a pack has a status; rejects when it fails first. */
  until(id: string, status: PackReply['status']): Promise<PackReply>
  content(id: string, headers?: object): Promise<Response>
}

export async function openPackOwner(ergon: Ergon, pusd = PUSD): Promise<PackOwner> {
  const { id: account } = await ergon.control('account.create', { env: 'test' })
  await ergon.control('funds.add', { account, pusd })
  const { token } = await ergon.control('token.create', { account, scope: 'billing-admin' })
  const authorization = { authorization: `Bearer ${token}` }
  const call: PackOwner['call'] = async (method, path, body, headers) => {
    const answer = await fetch(`${ergon.baseUrl}${path}`, {
      method,
      headers: { ...authorization, 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, json: (await answer.json()) as Answered['json'] }
  }
  const get = async (id: string) => {
    const { status, json } = await call('GET', `/v1/compliance/packs/${id}`)
    assert.equal(status, 200, JSON.stringify(json))
    return json as unknown as PackReply
  }
  return {
    account,
    token,
    call,
    async spend(reads) {
      await Promise.all(
        Array.from({ length: reads }, async (_, nth) => {
          const path = ['/v1/usage', '/v1/balance', '/v1/receipts', '/v1/databases/none'][nth % 4]
          const answer = await fetch(`${ergon.baseUrl}${path}`, { headers: authorization })
          await answer.arrayBuffer()
        }),
      )
      await call('POST', '/v1/tokens', { scope: 'read', name: 'of a "pack", =1+1' })
      await call('POST', '/v1/storage/presigned', { bucket: 'evidence', key: 'a' })
    },
    get,
    async ask(to = new Date(), from = new Date(to.getTime() - 3_600_000)) {
      const { status, json } = await call('POST', '/v1/compliance/packs', { from, to })
      assert.equal(status, 202, JSON.stringify(json))
      return json as unknown as PackReply
    },
    async until(id, wanted) {
      for (const signal = AbortSignal.timeout(WAIT_MS_MAX); ; await pause(POLL_MS)) {
        signal.throwIfAborted()
        const pack = await get(id)
        if (pack.status === wanted) return pack
        assert.notEqual(pack.status, 'failed', String(pack.reason))
      }
    },
    content: (id, headers) =>
      fetch(`${ergon.baseUrl}/v1/compliance/packs/${id}/content`, {
        headers: { ...authorization, ...headers },
      }),
  }
}
