// The playground: an answer, and its joules while it comes.
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Head } from '#console/shell/head.tsx'
import { Composer } from './composer.tsx'
import { Meter } from './meter.tsx'
import { NowBar } from './now-bar.tsx'
import { Talk } from './talk.tsx'
import { isRunning } from './turn.ts'
import { bodyOf, nextOf, useChat, type ChatSettings } from './use-chat.ts'
import './playground.css'

export function Page() {
  const { model = 'auto' } = useSearch({ strict: false }) as { readonly model?: string }
  const [settings, setSettings] = useState<ChatSettings>({
    model,
    tokensMax: 256,
    temperature: 0.7,
  })
  const chat = useChat(settings)
  const [text, setText] = useState('')
  const last = chat.turns.at(-1)
  const isAsking = last !== undefined && isRunning(last)
  return (
    <>
      <Head title="Playground">
        {chat.turns.length > 0 && !isAsking && (
          <button type="button" className="btn small" onClick={chat.clear}>
            New conversation
          </button>
        )}
      </Head>
      <div className="play">
        <section aria-label="Conversation">
          {last !== undefined && <NowBar turn={last} isRunning={isAsking} />}
          <Talk turns={chat.turns} />
          <Composer
            isRunning={isAsking}
            text={text}
            onText={setText}
            bodyOf={(question) => bodyOf(chat.turns, question, settings)}
            onAsk={chat.ask}
            onStop={chat.stop}
          />
        </section>
        <Meter
          turn={last}
          isRunning={isAsking}
          next={nextOf(chat.turns, text, settings)}
          settings={settings}
          onSettings={setSettings}
        />
      </div>
    </>
  )
}
