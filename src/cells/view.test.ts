import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { planView, type Show } from './view.ts'

/** The steps of a plan after its folders were put aside: kind and path. */
function stepsOf(view: Parameters<typeof planView>[0]): string[] {
  const words = planView(view)
  const steps: string[] = []
  for (let i = 0; i < words.length;) {
    const [kind = '', , third = ''] = words.slice(i, i + 3)
    if (kind === 'hide' || kind === 'put') steps.push(`${kind} ${third}`)
    if (kind === 'freeze') steps.push(`freeze ${words[i + 1]}`)
    i += kind === 'hide' || kind === 'take' || kind === 'put' ? 3 : 2
  }
  return steps.slice(1)
}

const show = (kind: Show['kind'], path: string): Show => ({ kind, path })

test('planView() hides first what lies outside, and shows what lies inside', () => {
  const steps = stepsOf({
    show: [show('write', '/app/data/a'), show('read', '/app'), show('need', '/usr/bin')],
    hide: ['/app/data'],
    blockedFor: 'nobody',
  })
  assert.deepEqual(steps, ['put /app', 'freeze /app', 'hide /app/data', 'put /app/data/a'])
})

test('planView() leaves out what changes nothing', () => {
  const steps = stepsOf({
    show: [show('read', '/app'), show('read', '/app/src'), show('need', '/app/bin')],
    hide: ['/data', '/data/cells'],
    blockedFor: 'nobody',
  })
  assert.deepEqual(steps, ['put /app', 'freeze /app', 'hide /data'])
})

test('planView() hides a folder that bars the way, and only then shows a needed one', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'view-'))
  t.after(() => rmSync(root, { recursive: true }))
  const folder = join(root, 'open', 'program')
  mkdirSync(folder, { recursive: true })
  chmodSync(root, 0o700)
  const view = { show: [show('need', folder)], hide: [], blockedFor: 'others' } as const
  assert.deepEqual(stepsOf(view), [`hide ${root}`, `put ${folder}`, `freeze ${folder}`])
  chmodSync(root, 0o711)
  assert.deepEqual(stepsOf(view), [])
})
