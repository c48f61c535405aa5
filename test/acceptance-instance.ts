// A started product as acceptance/ needs it: with tokens of accounts that cannot pay.
import type { Instance } from '../acceptance/world.ts'
import { CHAT, EMBEDDING } from './settings.ts'
import type { Ergon } from './start-ergon.ts'

const TRIES_MAX = 100

/** Of a product with the default models and no free tier: an account that never had funds has no free joules left. */
export async function acceptanceInstance(ergon: Ergon): Promise<Instance> {
  for (const model of [CHAT, EMBEDDING, `${EMBEDDING}-1536`]) await ergon.waitForModel(model)
  const unfunded = await newAccount(ergon)
  const depletedToken = await depletedTokenOf(ergon)
  const { baseUrl, token } = ergon
  return { baseUrl, token, depletedToken, unfundedToken: unfunded.token }
}

async function newAccount(ergon: Ergon): Promise<{ id: string; token: string }> {
  const { id } = await ergon.control('account.create', { env: 'test' })
  const { token } = await ergon.control('token.create', { account: id })
  return { id, token }
}

async function depletedTokenOf(ergon: Ergon): Promise<string> {
  const { id, token } = await newAccount(ergon)
  await ergon.control('funds.add', { account: id, pusd: '100' })
  for (let left = TRIES_MAX; left > 0; left--) {
    const answer = await fetch(`${ergon.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{}',
    })
    await answer.body?.cancel()
    if (answer.status === 402) return token
  }
  throw new Error(`the balance does not run out after ${TRIES_MAX} requests`)
}
