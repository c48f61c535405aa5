import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { isSelection, judge, outcomesOf } from './s3-outcomes.ts'

const folder = mkdtempSync(join(tmpdir(), 'ergon-s3-outcomes-'))
const file = join(folder, 'baseline.txt')
const report = join(folder, 'report.xml')
after(() => rmSync(folder, { recursive: true, force: true }))

const passed = (name: string) => `<testcase classname="a.b" name="${name}" time="0.1" />`
const failed = (name: string) =>
  `<testcase classname="a.b" name="${name}" time="0.1"><failure message="no">x</failure></testcase>`
const NOT_COLLECTED =
  '<testcase classname="" name="s3tests.functional.test_s3" time="0"><error message="collection failure">no module</error></testcase>'

/** Runs a planted interpreter that writes a report, or none, and exits; gives the run's exit code. */
function run(cases: string | undefined, ending: string, more: readonly string[] = []): number {
  const python = join(folder, 'python')
  const written = cases === undefined ? '' : `cat > '${report}' <<'XML'\n${cases}\nXML\n`
  writeFileSync(python, `#!/bin/sh\nrm -f '${report}'\n${written}${ending}\n`)
  chmodSync(python, 0o755)
  writeFileSync(file, 'test_one\ntest_two\n')
  const outcomes = outcomesOf({ checkout: folder, python, more, config: '', report })
  return judge(outcomes, { file, isUpdate: false, isPart: isSelection(more) })
}

test('a run passes when every test of the baseline passes, whatever else fails', () => {
  assert.equal(run(passed('test_one') + passed('test_two'), 'exit 0'), 0)
  assert.equal(run(passed('test_one') + passed('test_two') + failed('test_three'), 'exit 1'), 0)
})

test('a run fails when a test of the baseline fails, or does not run', () => {
  assert.equal(run(passed('test_one') + failed('test_two'), 'exit 1'), 1)
  assert.equal(run(passed('test_one'), 'exit 0'), 1)
  assert.equal(run(NOT_COLLECTED, 'exit 1'), 1)
})

test('with -k only what was chosen must pass', () => {
  for (const more of [['-k', 'one'], ['-kone']]) {
    assert.equal(run(passed('test_one'), 'exit 0', more), 0)
    assert.equal(run(failed('test_one'), 'exit 1', more), 1)
  }
})

test('a test may take as long as the longest sleeps, 140 s, and much more', () => {
  const isLong =
    'for word in "$@"; do case $word in --timeout=*) [ "${word#*=}" -ge 300 ] && exit 0;; esac; done'
  assert.equal(run(passed('test_one') + passed('test_two'), `${isLong}; exit 3`), 0)
})

test('a run fails when pytest does not come to its end', () => {
  const all = passed('test_one') + passed('test_two')
  for (const status of [2, 3, 4, 5, 127])
    for (const more of [[], ['-k', 'one']])
      assert.throws(() => run(all, `exit ${status}`, more), new RegExp(`status ${status}$`))
  assert.throws(() => run(NOT_COLLECTED, 'exit 2'), /status 2$/)
  assert.throws(() => run(all, 'kill -9 $$'), /SIGKILL$/)
  assert.throws(() => run(undefined, 'exit 0'), /ENOENT/)
  const absent = { checkout: folder, python: join(folder, 'none'), more: [], config: '', report }
  assert.throws(() => outcomesOf(absent), /ENOENT/)
})

test('judge() writes the baseline of what passes when it is to be updated', () => {
  const outcomes = new Map([
    ['test_b', 'PASS'],
    ['test_a', 'PASS'],
    ['test_c', 'FAIL'],
  ])
  assert.equal(judge(outcomes, { file, isUpdate: true, isPart: false }), 0)
  assert.equal(readFileSync(file, 'utf8'), 'test_a\ntest_b\n')
})
