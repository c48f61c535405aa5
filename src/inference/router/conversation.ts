// The difficulty of a conversation: of the user's last text, and of the system message's demands on every answer.
import { isCourtesy } from './cues.ts'
import { scoreInstruction, scoreText, type Score } from './scorer.ts'

/** A message: what is not text in its parts says nothing here. */
export type ConversationMessage = {
  readonly role: string
  readonly content?: string | readonly object[] | null | undefined
}

export function contentText({ content }: ConversationMessage): string {
  if (typeof content === 'string') return content
  return (content ?? [])
    .map((part) => ('text' in part && typeof part.text === 'string' ? part.text : ''))
    .join('\n')
}

/** Further system messages are not looked at: 2,048 of them may come. */
const INSTRUCTIONS_MAX = 2

/** "And why?" is as hard as the message before: the last two messages of the user count. */
const ASKED_MAX = 2

export function scoreConversation(messages: readonly ConversationMessage[]): Score {
  const asked = messages.filter(({ role }) => role === 'user').slice(-ASKED_MAX)
  const last = asked.at(-1)
  if (last !== undefined && isCourtesy(contentText(last)))
    return { tier: 'L0', because: 'a greeting or thanks' }
  const instructions = messages
    .filter(({ role }) => role === 'system' || role === 'developer')
    .slice(0, INSTRUCTIONS_MAX)
  return hardest([
    ...asked.map((message) => scoreText(contentText(message))),
    ...instructions.map((message) => scoreInstruction(contentText(message))),
  ])
}

const NOTHING: Score = { tier: 'L0', because: 'nothing asked' }

/** The hardest of several views of one request; the first of equals. */
export const hardest = (scores: readonly Score[]): Score =>
  scores.reduce(
    (hard, other) => (hard === NOTHING || other.tier > hard.tier ? other : hard),
    NOTHING,
  )
