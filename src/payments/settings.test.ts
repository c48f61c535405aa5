import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSettings } from '#config/config.ts'
import { paymentsSettings } from './settings.ts'

const API = 'http://localhost:8080'
const PORTAL = 'http://portal.localhost:8081'

test('paymentsSettings() names a page of the portal to top up on, and payers come back to it', () => {
  const settingsOf = (
    values: Parameters<typeof readSettings>[0],
    portal: string | null = PORTAL,
  ) => {
    const config = readSettings({ testProcessorPort: '8099', ...values }, [])
    const { topUpUrl, cards } = paymentsSettings(config, { api: API, portal, secret: 'secret' })
    return [topUpUrl, ...cards.map(({ returnUrl }) => returnUrl)]
  }
  const page = `${PORTAL}/balance`
  assert.deepEqual(settingsOf({}), [page, page])
  assert.deepEqual(settingsOf({}, null), [`${API}/v1/topups`, `${API}/v1/topups`])
  const own = 'https://shop.example/pay'
  assert.deepEqual(settingsOf({ topUpUrl: own }), [own, own])
})
