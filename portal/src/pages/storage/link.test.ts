// Links last no longer than the sign-in that makes them, and the command for longer ones is one word for any key.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { copyCommand, endsWithin, presignCommand } from './link.ts'

const HOUR_MS = 3_600_000

test('times end within what is left of the sign-in, and the shortest is always there', () => {
  const offered = (leftMs: number) => endsWithin(leftMs).map(([seconds]) => seconds)
  assert.deepEqual(offered(12 * HOUR_MS), ['900', '3600', '21600'])
  assert.deepEqual(offered(2 * HOUR_MS), ['900', '3600'])
  assert.deepEqual(offered(1_000), ['900'])
})

test('a shell reads the command as the key that it names', () => {
  assert.equal(
    presignCommand({ bucket: 'b1', key: 'a/b.txt' }),
    'ergon storage presign s3://b1/a/b.txt --expires 7d',
  )
  for (const key of ["it's $(id) `x` \\n.txt", 'a\u202Efdp.exe', 'two\nlines', '-x; rm', 'ö "q"']) {
    const command = presignCommand({ bucket: 'b1', key })
    assert.doesNotMatch(command, /[\u202A-\u202E\n]/)
    const words = execFileSync(
      'bash',
      ['-c', command.replace('ergon', String.raw`printf '%s\0'`)],
      {
        env: { LC_ALL: 'C.UTF-8' },
      },
    )
    assert.equal(words.toString().split('\0')[2], `s3://b1/${key}`)
  }
})

test('the command of an empty place is one word for any prefix', () => {
  assert.equal(copyCommand('b1', 'a/'), 'ergon storage cp picture.png s3://b1/a/')
  for (const prefix of ['x;touch $HOME/planted;#/', 'a; curl 127.0.0.1 | sh\nid; #', "it's/"]) {
    const command = copyCommand('b1', prefix)
    const words = execFileSync(
      'bash',
      ['-c', command.replace('ergon', String.raw`printf '%s\0'`)],
      { env: { LC_ALL: 'C.UTF-8' } },
    )
    assert.equal(words.toString(), `storage\0cp\0picture.png\0s3://b1/${prefix}\0`)
  }
})
