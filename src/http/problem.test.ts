import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ERRORS, fault, openaiError } from '#contract/errors.ts'
import { renderProblem } from './problem.ts'

test('the message that SDKs show says what to do, as the detail does', () => {
  const { help } = ERRORS.host_unknown
  for (const message of ['Could not answer for the host: "box"', 'Could not answer.']) {
    const error = fault('host_unknown', message)
    const body = JSON.parse(renderProblem(error, { requestId: 'req_1' }).body) as {
      detail: string
      error: { message: string }
    }
    assert.equal(body.detail, `${message.replace(/\.$/, '')}. ${help}`)
    assert.equal(body.error.message, body.detail)
  }
})

test('advice that an upstream gave already is not given twice', () => {
  const said = openaiError(fault('storage_full', 'Could not write'))
  assert.equal(openaiError(fault('storage_full', said.message)).message, said.message)
})
