import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { dumpKind } from './dump-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'ergon-dumps-'))
after(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'a.dump')

const kindOf = (content: string) => {
  writeFileSync(file, content, 'latin1')
  return dumpKind(file)
}
const PLAIN = '--\n-- PostgreSQL database dump\n--\n\nselect 1;\n'

test('archives are for pg_restore, statements are for psql', async () => {
  assert.equal(await kindOf('PGDMP\u0001\u000e'), 'archive')
  assert.equal(await kindOf('toc.dat\0\0\0'), 'archive')
  assert.equal(await kindOf(`${PLAIN}--\n-- PostgreSQL database dump complete\n--\n\n`), 'sql')
  assert.equal(await kindOf(`-- mine\n\n  select 1`), 'sql')
  assert.equal(await kindOf(`${'--\n'.repeat(100_000)}select 1`), 'sql')
})

test('a file that has nothing to import is refused with the reason', async () => {
  const refusals: readonly (readonly [string, RegExp])[] = [
    ['', /the file is empty$/],
    ['\n  \n-- a comment\n', /it has no statement$/],
    ['\u001f\u008b\u0008\0\0\0', /its format is unknown$/],
    [PLAIN, /the dump has no end$/],
  ]
  for (const [content, message] of refusals)
    await assert.rejects(kindOf(content), { message, next: /ergon db export/ }, content)
  await assert.rejects(dumpKind('/dev/null'), {
    message: /it is a pipe/,
    next: /db export a a.dump/,
  })
  await assert.rejects(dumpKind(join(folder, 'none')), { message: /^Could not read / })
  await assert.rejects(dumpKind(folder), { message: /^Could not read / })
})
