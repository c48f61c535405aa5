import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CommandError } from '#cli/output.ts'
import { inFlags } from './deploy.ts'

test('inFlags() names the option that was typed in place of the field of the API', () => {
  const shown = (message: string) => {
    const error = inFlags(new CommandError(message))
    return error instanceof Error ? error.message : error
  }
  for (const [told, said] of [
    [
      'Could not accept timeout_s: must be at most 900',
      'Could not accept --timeout: must be at most 900',
    ],
    [
      'Could not accept routes[0]: must be a host name',
      'Could not accept --host: must be a host name',
    ],
    ['Could not accept on[1]: must be a trigger', 'Could not accept --on: must be a trigger'],
    ['Could not accept memory: must be from 64MB', 'Could not accept memory: must be from 64MB'],
    ['There is no runtime', 'There is no runtime'],
  ] as const)
    assert.equal(shown(told), said)
})
