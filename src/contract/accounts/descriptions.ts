// Requests and replies of the routed operations of accounts.
import { json, ok, PLAIN_TEXT, type Descriptions } from '#contract/description.ts'
import * as service from '#contract/service-replies.ts'
import * as life from './account-life.ts'
import { auditList, auditQuery } from './audit.ts'
import { budgetList, budgetListQuery } from '#contract/ledger/budgets.ts'
import { lookupReply } from './lookup.ts'
import * as members from './members.ts'
import * as tokens from '#contract/identity/tokens.ts'
import type { ACCOUNTS } from './operations.ts'

export const ACCOUNTS_DESCRIPTIONS: Descriptions<typeof ACCOUNTS> = {
  'usage.last': {
    refusals: ['not_found'],
    summary: 'What the last request of this token cost; reads of usage and receipts do not count',
    replies: ok('The figures of its receipt', json(service.usageLast)),
  },
  'usage.get': {
    summary: 'What the account used over a time, by group and step of time',
    query: service.usageQuery,
    replies: ok('A row for each step and group, the most energy first', json(service.usageList)),
  },
  'receipt.list': {
    summary: 'What the account was charged, in the order of its own numbers, which have no gap',
    query: service.receiptListQuery,
    replies: ok('The charges after the cursor', json(service.receiptList)),
  },
  'receipt.get': {
    refusals: ['receipt_not_found'],
    summary:
      'A receipt, by its own id or that of its request; of what nobody was charged, without a token',
    replies: {
      200: {
        help: 'The proof, as C2SP tlog-proof or as JSON',
        media: { ...PLAIN_TEXT, ...json(service.receipt) },
      },
      202: {
        help: 'Posted, not sealed yet: ask again after Retry-After',
        media: json(service.receiptUnsealed),
      },
    },
  },
  'receipt.keys': {
    refusals: ['state_unavailable'],
    summary: 'The keys that receipts are checked with: keep them',
    replies: ok('One key for each shard of the log', json(service.receiptKeys)),
  },
  'receipt.checkpoint': {
    refusals: ['not_found', 'state_unavailable'],
    summary: 'The newest signed tree head of a shard',
    replies: ok('A C2SP signed note', PLAIN_TEXT),
  },
  'receipt.tile': {
    refusals: ['not_found', 'state_unavailable'],
    summary: 'Hashes of the log: `tile/<level>/<index>[.p/<width>]` as C2SP lays them out',
    replies: ok('Up to 256 SHA-256 hashes', { 'application/octet-stream': null }),
  },
  'token.create': {
    summary: 'Create a token; its secret is in this reply alone',
    request: tokens.tokenRequest,
    replies: { 201: { help: 'The token, with its secret', media: json(tokens.newTokenReply) } },
    refusals: ['too_many_tokens'],
  },
  'member.list': {
    summary: 'The members of the account, the newest first: those invited and removed too',
    query: members.memberListQuery,
    replies: ok('The members', json(members.memberList)),
  },
  'member.get': {
    summary: 'A member, by id; `me` is the member of the token',
    replies: ok('The member', json(members.memberReply)),
    refusals: ['member_not_found'],
  },
  'member.invite': {
    summary: 'Invite somebody; the code of the invitation is in this reply alone',
    request: members.memberInvitation,
    replies: { 201: { help: 'The member, invited', media: json(members.invitedReply) } },
    refusals: ['role_missing', 'too_many_members'],
  },
  'member.reinvite': {
    summary:
      'Give a member a new code: for an invited one in place of the code before, for an active one another token',
    request: members.memberReinvitation,
    replies: { 201: { help: 'The member, with the new code', media: json(members.invitedReply) } },
    refusals: ['member_not_found', 'role_missing'],
  },
  'member.accept': {
    summary: 'Accept an invitation, once; the first token of the member is in this reply alone',
    request: members.memberAcceptance,
    replies: { 201: { help: 'The member, active', media: json(members.acceptedReply) } },
    refusals: [
      'invitation_not_found',
      'invitation_ended',
      'account_deleting',
      'too_many_tokens',
      'rate_limit_exceeded',
      'overloaded',
    ],
  },
  'member.update': {
    summary: 'Change the role, name or contact of a member; tokens above the new role are revoked',
    request: members.memberChange,
    replies: ok('The member', json(members.memberReply)),
    refusals: ['member_not_found', 'role_missing', 'last_owner'],
  },
  'member.remove': {
    summary: 'Remove a member with its tokens, or withdraw its invitation; `me` leaves',
    replies: ok('The member', json(members.memberReply)),
    refusals: ['member_not_found', 'role_missing', 'last_owner'],
  },
  'token.list': {
    summary: 'The tokens of the account, the newest first; not their secrets',
    query: tokens.tokenListQuery,
    replies: ok('The tokens', json(tokens.tokenList)),
  },
  'token.update': {
    summary: 'Change the limits of a token; every gateway has the new ones when the answer comes',
    request: tokens.tokenChange,
    replies: ok('The token', json(tokens.tokenReply)),
    refusals: ['token_not_found', 'role_missing'],
  },
  'token.rotate': {
    summary: 'Replace a token by a new one of the same name, scope, time of expiry and limits',
    request: tokens.tokenRotation,
    replies: {
      201: { help: 'The new token, with its secret', media: json(tokens.rotatedTokenReply) },
    },
    refusals: ['token_not_found', 'not_own_token', 'too_many_tokens'],
  },
  'token.revoke': {
    summary: 'Revoke a token: no process honours it when the answer comes',
    replies: ok('The token', json(tokens.tokenReply)),
    refusals: ['token_not_found', 'role_missing'],
  },
  'lookup.get': {
    summary: 'The kind of the thing that an id names, and where the API has it',
    replies: ok('The thing', json(lookupReply)),
    refusals: ['not_found'],
  },
  'budget.list': {
    summary:
      'The energy budgets of the account: their use today, and whether they stopped something',
    query: budgetListQuery,
    replies: ok('The budgets, by id', json(budgetList)),
  },
  'audit.list': {
    summary: 'Who changed what of the account, the newest first',
    query: auditQuery,
    replies: ok('The changes', json(auditList)),
  },
  'account.export': {
    summary:
      'All records of the account, one JSON object a line; the last line has their number. Bodies of objects and rows of databases are fetched with the commands that the lines name',
    replies: ok('The records', { 'application/x-ndjson': life.exportRecord }),
  },
  'account.delete': {
    summary: 'Delete the account with everything that it has; for some days it can be restored',
    request: life.accountDeletion,
    replies: { 202: { help: 'It is being deleted', media: json(life.accountDeletionReply) } },
    refusals: ['role_missing', 'account_locked'],
  },
  'account.restore': {
    summary: 'Take the deletion of the account back',
    request: life.accountRestoration,
    replies: ok('It is as before', json(life.accountDeletionReply)),
    refusals: ['role_missing', 'account_not_deleting'],
  },
}
