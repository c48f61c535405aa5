import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFrontCell } from './front-cell.ts'

test('a start that failed is done again, and nothing is started twice', async () => {
  const begun: string[] = []
  let isAway = true
  const { signal } = new AbortController()
  const start = (name: string) => async () => {
    begun.push(name)
    if (name === 'backups' && isAway) throw new Error('the store is away')
    return { ready: async () => void begun.push(`${name} is ready`) }
  }
  const front = createFrontCell({
    listen: async () => void begun.push('listen'),
    starts: [start('proxy'), start('backups')],
  })
  await assert.rejects(front.ready(signal), /store is away/)
  isAway = false
  await front.ready(signal)
  assert.deepEqual(begun, [
    'listen',
    'proxy',
    'backups',
    'backups',
    'proxy is ready',
    'backups is ready',
  ])
})
