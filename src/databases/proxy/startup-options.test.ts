import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startupRefusal } from './startup-options.ts'

const codeOf = (options: string) => startupRefusal(new Map([['options', options]]))?.code

test('settings are served in each spelling', () => {
  for (const options of [
    '',
    ' \t',
    '-c work_mem=1MB',
    '-cwork_mem=1MB',
    '--work-mem=1MB --search_path=a,b',
    '-c  search_path=a\\ b\n-c statement_timeout=5s',
    '-c options=-W',
    '-c application_name=',
    '-c application_name=\\ -W',
    '-c application_name=post_auth_delay=1',
  ])
    assert.equal(codeOf(options), undefined, options)
})

test('other options of a command line are refused by name', () => {
  for (const options of ['-W 2000', '-W2000', '-c', '-c work_mem', '--', '--work-mem', 'x', '-fs'])
    assert.equal(codeOf(options), '0A000', options)
  for (const options of ['-c work_mem=1MB -P', '-c a=b\\\\ -W', '-c a=1\v-W', '-e -c a=1'])
    assert.match(startupRefusal(new Map([['options', options]]))?.message ?? '', /"-[PWe]"/)
})

test('no spelling of post_auth_delay is served', () => {
  for (const options of [
    '-c post_auth_delay=1',
    '-cPOST_AUTH_DELAY=1',
    '--post-auth-delay=1',
    '--Post-Auth_delay=1',
    '-c post\\_auth_delay=1',
    '-c work_mem=1MB\f--post-auth-delay=1',
    '-c a=\\\\ -c post_auth_delay=1',
  ])
    assert.equal(codeOf(options), '42501', options)
  for (const name of ['post_auth_delay', 'Post_Auth_Delay'])
    assert.equal(startupRefusal(new Map([[name, '1']]))?.code, '42501', name)
})
