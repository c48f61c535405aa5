import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { connectState } from '#state/connect.ts'
import { createLogger } from '#base/log.ts'
import { openTestState } from '#state/test-database.fixture.ts'
import { STATE_SCHEMA } from '#state/schema.ts'
import { alarmUnsafeSettings, unsafeSettings } from './state-settings.ts'

const skip = whyNoState() || (process.env['DATABASE_URL'] !== undefined && 'a server of its own')
const log = createLogger('test', { level: 'error' })

test('a setting that can lose what was acknowledged is an alarm, once', { skip }, async () => {
  await using server = await openTestUrl({ fsync: 'off' })
  const { state } = await openTestState({
    urlOf: server.of,
    schemas: [STATE_SCHEMA],
    connections: 1,
  })
  await using _ = state
  for (let start = 0; start < 2; start++) await alarmUnsafeSettings(state)
  const { rows } = await state.query('select kind, detail from alarms')
  assert.deepEqual(rows, [
    { kind: 'state_unsafe', detail: { setting: 'fsync', value: 'off', wanted: 'on' } },
  ])
})

test('the settings of a session count, as those of a role do', { skip }, async () => {
  await using server = await openTestUrl()
  const url = new URL(server.of('public'))
  url.searchParams.set(
    'options',
    '-c synchronous_commit=off -c default_transaction_isolation=serializable',
  )
  await using state = connectState({ address: { url: url.href }, connections: 1, log })
  const ofSession = (await unsafeSettings(state)).filter(({ setting }) => setting !== 'fsync')
  assert.deepEqual(ofSession, [
    { setting: 'synchronous_commit', value: 'off', wanted: 'on' },
    {
      setting: 'default_transaction_isolation',
      value: 'serializable',
      wanted: 'read committed',
    },
  ])
})
