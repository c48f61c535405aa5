import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSettings } from '#config/config.ts'
import { statusHost } from './status-cell.ts'

test('the status page leaves loopback only where a proxy with TLS is said to be in front of it', () => {
  const open = ['--host', '0.0.0.0', '--base-url', 'https://api.example.org']
  assert.equal(statusHost(readSettings({}, [])), '127.0.0.1')
  assert.equal(statusHost(readSettings({}, open)), '127.0.0.1')
  const named = [...open, '--status-url', 'https://status.example.org']
  assert.equal(statusHost(readSettings({}, named)), '0.0.0.0')
  assert.throws(
    () => readSettings({}, [...open, '--status-url', 'http://status.example.org']),
    /ERGON_STATUS_URL \(--status-url\): plain HTTP is for loopback only/,
  )
})
