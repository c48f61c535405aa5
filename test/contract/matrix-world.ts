// The product that the matrix asks, and its callers: who pays, who cannot, who may not.
import { setTimeout as pause } from 'node:timers/promises'
import type { Scope } from '#contract/operation.ts'
import type { ScriptedUpstream } from '#inference/testing/scripted-upstream.ts'
import { sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { addUpstream } from '../upstreams.ts'

export const CHAT = 'matrix-chat'
export const EMBEDDING = 'matrix-embedding'
export const SEALED_MAX_MS = 60_000

export type Caller = { readonly token: string; readonly account: string }
/** Everything that the rows need of the running product. */
export const world = {
  receipt: '',
  othersReceipt: '',
  nobodysReceipt: '',
  depletedsReceipt: '',
  log: '',
  tile: '',
}
let upstreams: ScriptedUpstream[] = []
export let ergon: Ergon
export let callers: Record<'owner' | 'other' | 'revoked' | 'depleted' | 'freeloader', Caller>

/** Call it before the tests. */
export async function openMatrix(): Promise<void> {
  ergon = sharedErgon()
  upstreams = [
    await addUpstream(ergon, CHAT),
    await addUpstream(ergon, EMBEDDING, { embedding: true }),
  ]
  callers = {
    owner: { token: (await mint(ergon.account, 'billing-admin')).token, account: ergon.account },
    other: await caller('5000000000000'),
    revoked: await revokedCaller(),
    depleted: await depletedCaller(),
    freeloader: await caller(),
  }
  world.receipt = await receiptOfRequest(callers.owner)
  world.othersReceipt = await receiptOfRequest(callers.other)
  world.nobodysReceipt = await receiptOfRequest({})
  await sealed()
}

export async function closeMatrix(): Promise<void> {
  await Promise.all(upstreams.map((upstream) => upstream.close()))
}

async function caller(pusd?: string): Promise<Caller> {
  const { id: account } = await ergon.control('account.create', { env: 'test' })
  if (pusd !== undefined) await ergon.control('funds.add', { account, pusd })
  const { token } = await mint(account, 'billing-admin')
  return { token, account }
}

export const mint = (account: string, scope: Scope = 'read') =>
  ergon.control('token.create', { account, scope })

async function revokedCaller(): Promise<Caller> {
  const { id, token } = await mint(ergon.account, 'deploy')
  await call('/v1/models', { token })
  await ergon.control('token.revoke', { token: id })
  return { token, account: ergon.account }
}

/** An account that was billed for what it had, until it was refused. */
async function depletedCaller(): Promise<Caller> {
  const made = await caller('100000')
  const body = { model: CHAT, messages: [{ role: 'user', content: 'Hello' }] }
  for (let left = 100; left > 0; left--) {
    const answer = await call('/v1/chat/completions', { ...made, body })
    if (answer.status === 402) return made
    world.depletedsReceipt = answer.headers.get('x-receipt-id') ?? ''
  }
  throw new Error('the balance does not run out')
}

async function receiptOfRequest(who: Caller | { token?: never }): Promise<string> {
  const answer = await call('/v1/models', who)
  return answer.headers.get('x-receipt-id') ?? ''
}

/** Waits until the log is sealed and names its parts. */
async function sealed(): Promise<void> {
  const deadline = performance.now() + SEALED_MAX_MS
  for (;;) {
    const answer = await call(`/v1/receipts/${world.receipt}`, {
      ...callers.owner,
      accept: 'application/json',
    })
    if (answer.status === 200) {
      const { checkpoint } = JSON.parse(answer.text) as { checkpoint: string }
      const [origin = '', size = '0'] = checkpoint.split('\n')
      world.log = origin
      // A tile is partial until it has its 256 leaves; c2sp.org/tlog-tiles.
      world.tile = Number(size) < 256 ? `0/000.p/${size}` : '0/000'
      return
    }
    if (performance.now() > deadline) throw new Error(`nothing is sealed: ${answer.text}`)
    await pause(100)
  }
}

export type Answer = { readonly status: number; readonly headers: Headers; readonly text: string }

/** Asks the product, or `through` another address. */
export async function call(
  path: string,
  options: {
    token?: string
    body?: unknown
    method?: string
    accept?: string
    through?: string
  } = {},
): Promise<Answer> {
  const { token, body, accept, through = ergon.baseUrl } = options
  const answer = await fetch(through + path, {
    method: options.method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(accept === undefined ? {} : { accept }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}
