// The clock of a page rests while the page is hidden, and catches up once somebody looks.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOf } from '#console/client/page.fixture.ts'
import { eachWhileVisible } from './visible-clock.ts'

test('eachWhileVisible() ticks on a visible page alone, and at once when the page comes back', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const page = pageOf(t)
  let ticks = 0
  const end = eachWhileVisible(1_000, () => ticks++)
  const look = (hidden: boolean) => {
    page.hidden = hidden
    page.dispatchEvent(new Event('visibilitychange'))
  }
  t.mock.timers.tick(2_000)
  assert.equal(ticks, 2)
  look(true)
  t.mock.timers.tick(5_000)
  assert.equal(ticks, 2)
  look(false)
  assert.equal(ticks, 3)
  t.mock.timers.tick(1_000)
  assert.equal(ticks, 4)
  end()
  look(false)
  t.mock.timers.tick(1_000)
  assert.equal(ticks, 4)
})
