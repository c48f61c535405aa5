// The addresses that webhooks may call although they are not public.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LOOPBACK } from '#base/hosts.ts'
import type { Config } from '#config/config.ts'
import type { AgentCore } from '#node/agent-part.ts'
import { WEBHOOKS_AGENT } from './agent.ts'
import type { WebhooksGatewaySettings } from './settings.ts'

const networksOf = async (config: Partial<Config>) => {
  const core = { config: { webhooks: false, webhookLogDays: 1, ...config } } as AgentCore
  const { gateway } = await WEBHOOKS_AGENT.open(core, AbortSignal.abort())
  return (gateway as { readonly settings: WebhooksGatewaySettings }).settings.networks
}

test('a service that others can reach sends webhooks to no address of this machine', async () => {
  assert.deepEqual(await networksOf({ host: '0.0.0.0' }), [])
  assert.deepEqual(await networksOf({ host: '192.0.2.1' }), [])
  const behindProxy = { host: '127.0.0.1', baseUrl: 'https://api.example.org' }
  assert.deepEqual(await networksOf(behindProxy), [])
})

test('a service on loopback alone does, and the setting decides before all', async () => {
  assert.deepEqual(await networksOf({ host: '127.0.0.1' }), LOOPBACK)
  const local = { host: 'localhost', baseUrl: 'http://localhost:8080' }
  assert.deepEqual(await networksOf(local), LOOPBACK)
  const webhookNetworks = ['192.0.2.0/24']
  assert.deepEqual(await networksOf({ host: '0.0.0.0', webhookNetworks }), webhookNetworks)
  assert.deepEqual(await networksOf({ host: '127.0.0.1', webhookNetworks: [] }), [])
})
