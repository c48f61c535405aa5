// A state in a word, with a sign and a colour: never the colour alone.
import { Icon, type IconName } from './icons.tsx'

export type Tone = 'ok' | 'warn' | 'bad' | 'muted'
const SIGNS: Readonly<Record<Tone, IconName>> = {
  ok: 'holds',
  warn: 'warns',
  bad: 'fails',
  muted: 'waits',
}

export const StateWord = ({ tone, word }: { readonly tone: Tone; readonly word: string }) => (
  <span className={`state ${tone}`}>
    <Icon name={SIGNS[tone]} weight={2.2} />
    {word}
  </span>
)
