// The events of accounts and tokens.
import { z } from 'zod'
import { eventOf, type EventTable } from '#contract/event.ts'
import { SCOPES } from '#contract/operation.ts'

export const IDENTITY_EVENTS = {
  'account.deletion_requested': eventOf('Somebody asked for the deletion of the account.', {
    deletes_at: z.iso.datetime().meta({ example: '2026-01-08T00:00:00.000Z' }),
  }),
  'account.restored': eventOf('The deletion of the account was taken back.', {}),
  'account.suspended': eventOf('The operator suspended the account.', { reason: z.string() }),
  'account.resumed': eventOf('The operator ended the suspension of the account.', {}),
  'token.exposed': eventOf('A token was seen in an address; at most once an hour for each token.', {
    token_id: z.string(),
    name: z.string(),
    /** The first characters of the token. */
    hint: z.string(),
    scope: z.enum(SCOPES),
  }),
} satisfies EventTable
