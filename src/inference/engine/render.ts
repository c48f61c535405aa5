// Turns → prompt tokens. Text of users is tokenised as plain text, so that "<|im_start|>" in it cannot
// open a turn.
import {
  JinjaTemplateChatWrapper,
  LlamaText,
  SpecialTokensText,
  type ChatHistoryItem,
  type LlamaModel,
  type Token,
} from 'node-llama-cpp'
import type { ModelConfig } from './model-config.ts'
import type { Turn } from './turns.ts'

export type Renderer = {
  /** The tokens up to where the assistant begins to speak. */
  readonly prompt: (turns: readonly Turn[]) => Token[]
  /** Texts that end the assistant's turn though the model does not mark them so. */
  readonly stops: readonly string[]
}

/** The renderer of a model: the template of its config, else the file's own, else ChatML. */
export function createRenderer(model: LlamaModel, config: ModelConfig): Renderer {
  const template = model.fileInfo.metadata.tokenizer?.chat_template
  const jinja = config.template === undefined ? template !== undefined : config.template === 'jinja'
  const render = jinja && template !== undefined ? jinjaText(template) : chatmlText
  return {
    stops: jinja ? [] : ['<|im_end|>', '<|im_start|>'],
    prompt: (turns) => withBos(model, render(turns).tokenize(model.tokenizer)),
  }
}

/**
 * ChatML without a default system turn: the system text in SmolLM2's own template turns "What is the
 * capital of France?" into nonsense, and 11 of 14 questions are right with and without it.
 */
function chatmlText(turns: readonly Turn[]): ReturnType<typeof LlamaText> {
  const parts = turns.flatMap((turn) => [
    new SpecialTokensText('<|im_start|>'),
    `${turn.role}\n${turn.text}`,
    new SpecialTokensText('<|im_end|>'),
    '\n',
  ])
  return LlamaText([...parts, new SpecialTokensText('<|im_start|>'), 'assistant\n'])
}

function jinjaText(template: string): (turns: readonly Turn[]) => ReturnType<typeof LlamaText> {
  // The wrapper renders placeholders and puts the texts in afterwards, so they stay plain text.
  const wrapper = new JinjaTemplateChatWrapper({ template, functionCallMessageTemplate: 'noJinja' })
  return (turns) => {
    const history: ChatHistoryItem[] = turns.map(historyItem)
    history.push({ type: 'model', response: [] })
    return wrapper.generateContextState({ chatHistory: history }).contextText
  }
}

function historyItem(turn: Turn): ChatHistoryItem {
  switch (turn.role) {
    case 'system':
      return { type: 'system', text: turn.text }
    case 'user':
      return { type: 'user', text: turn.text }
    case 'assistant':
      return { type: 'model', response: [turn.text] }
  }
}

/** Models that want a BOS get exactly one: SmolLM2's *is* <|im_start|>, and two of them cost an answer. */
export function withBos(model: LlamaModel, tokens: Token[]): Token[] {
  const { bos, shouldPrependBosToken } = model.tokens
  if (!shouldPrependBosToken || bos === null || tokens[0] === bos) return tokens
  return [bos, ...tokens]
}
