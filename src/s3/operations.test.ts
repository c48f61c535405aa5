import assert from 'node:assert/strict'
import { test } from 'node:test'
import { STORAGE_OPERATIONS } from '#contract/storage-operations.ts'
import { createHandlers } from './create-handlers.ts'
import type { StorageDeps } from './deps.ts'
import { match } from './match.ts'
import { S3_OPERATIONS } from './operations.ts'

test('every operation that has a handler is in the contract, under the scope that its method needs', () => {
  const handlers = Object.keys(createHandlers({} as StorageDeps))
  assert.ok(handlers.length > 60)
  for (const name of handlers) assert.ok(`storage.${name}` in STORAGE_OPERATIONS, name)
  for (const [name, { scope }] of Object.entries(STORAGE_OPERATIONS)) {
    const row = S3_OPERATIONS[name.slice('storage.'.length) as keyof typeof S3_OPERATIONS]
    if (row === undefined) continue
    const [method = ''] = row.binding.split(' ')
    const wanted = method === 'OPTIONS' ? null : /^(GET|HEAD)$/.test(method) ? 'read' : 'deploy'
    assert.equal(scope, wanted, name)
  }
})

test('what nothing was built for is refused or empty, and never stored', () => {
  const place = { form: 'path', bucket: 'b', key: undefined, query: new Map([['replication', '']]) }
  assert.equal(match('PUT', place as never, {}).answer, 'NotImplemented')
  assert.equal(match('GET', place as never, {}).answer, 'ReplicationConfigurationNotFoundError')
})
