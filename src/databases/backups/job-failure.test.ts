import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServerError } from '#wire/wire-errors.ts'
import { jobFailure } from './job-failure.ts'
import { BackupFault, PassingFault } from './plan.ts'

test('a damaged page fails a copy for good: each try would cost a whole copy', () => {
  const error = new ServerError('checksum verification failure during base backup', 'XX001', false)
  assert.deepEqual(jobFailure(error), {
    reason: 'the files of the database are damaged',
    isUnpaid: false,
    mayPass: false,
  })
  assert.equal(jobFailure(new Error('the store is away')).mayPass, true)
})

test('a restore is tried again where the log of its source may be stored later, and only there', () => {
  const of = (cause: unknown) =>
    jobFailure(new BackupFault('the rest of the log is not stored', { cause }))
  assert.equal(of(new PassingFault('its log could not be stored in time')).mayPass, true)
  for (const cause of [
    new BackupFault('its process ended three times'),
    'it is suspended',
    undefined,
  ])
    assert.equal(of(cause).mayPass, false)
})
