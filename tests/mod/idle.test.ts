// Acceptance scenarios 60 and 61: one reminder an idle period, over a clock that the test moves.
import type { On, PromptSubmitInput } from 'claude-code'
import type { Engine } from 'claude-code/testing'
import { expect, mock, test } from 'claude-code/testing'

/** What the engine says when it is asked for the words. */
const REMINDER = 'context-editor: system.auto_molt. The whole rule.'
const NOTICE = 'context-editor: idle for 30 min.'

/** A session with a clock of its own, and what reached it. */
const session = (on: On, idle: object, beforeWords: () => unknown = () => undefined) => {
  const clock = mock.clock(on)
  const prompts: string[] = []
  const lines: string[] = []
  const asked: string[] = []
  const answers: Record<string, object> = { hello: { idle }, idle: { reminder: REMINDER, notice: NOTICE } }

  on('session.id', () => ({ value: 's1' }))
  on('session.info', () => ({ value: { transcriptPath: '/t/s1.jsonl' } as never }))
  on('session.cwd', () => ({ value: '/p' }))
  on('session.usage', () => ({ value: { context: { window: 200_000 } } as never }))
  on('session.messages', () => ({ value: [] as never }))
  on('session.start', (_, e) => ({ cwd: e.cwd }) as never)
  on('process.hookEnv', () => ({ value: { CLAUDE_PLUGIN_DATA: '/d' } }))
  on('fs.exists', () => ({ value: false }))
  on('ui.toast', () => ({ value: undefined }))
  on('ui.log', (_, e) => {
    if (e.to !== 'debug') {
      lines.push(e.text)
    }

    return { value: undefined }
  })
  on('process.run', async (_, e) => {
    const event = e.argv.at(-1) ?? ''

    asked.push(event)
    if (event === 'idle') {
      await beforeWords()
    }
    const stdout = JSON.stringify(answers[event] ?? {})

    return { value: { exitCode: 0, stdout, stderr: '', isStdoutTruncated: false, isStderrTruncated: false } }
  })
  on('prompt.submit', (_, e) => {
    prompts.push(e.text)

    return { text: e.text }
  })
  on('turn.start', (_, e) => ({ turnId: e.turnId }))
  on('turn.complete', () => ({ text: '' }))

  return { clock, prompts, lines, asked }
}

const begun = ($: Engine) => $.session.start({ source: 'startup', cwd: '/p', surfaces: [] } as never)

/** A turn from its prompt to its end. */
const turn = async ($: Engine, text = 'go', origin: PromptSubmitInput['origin'] = { kind: 'composer' }) => {
  await $.prompt.submit({ text, wait: false, origin } as never)
  await $.turn.start({ text, turnId: 't' })
  await $.turn.complete({ turnId: 't', reason: 'answer', answer: 'done', text: 'done' } as never)
}

const PROMPT = { mode: 'prompt', seconds: 1_800 }
const OURS = { kind: 'plugin', name: 'context-editor' } as const

test('scenario 60: none at 1799 s, one at 1800 s, still one at 7200 s, and another after a person', async ($, on) => {
  const { clock, prompts } = session(on, PROMPT)

  await begun($)
  await turn($)
  await clock.advance(1_799_000)
  expect(prompts).toEqual(['go'])
  await clock.advance(1_000)
  expect(prompts).toEqual(['go', REMINDER])
  await clock.advance(5_400_000)
  expect(prompts).toEqual(['go', REMINDER])
  await turn($, 'again')
  await clock.advance(1_800_000)
  expect(prompts).toEqual(['go', REMINDER, 'again', REMINDER])
})

test('k-i10: the turn that the reminder started, and what it leads to, begin no period', async ($, on) => {
  const { clock, prompts } = session(on, PROMPT)

  await begun($)
  await turn($)
  await clock.advance(1_800_000)
  await $.turn.start({ text: REMINDER, turnId: 'r' })
  await $.turn.complete({ turnId: 'r', reason: 'answer', answer: '', text: '' } as never)
  await turn($, 'The molt is done.', OURS)
  await clock.advance(7_200_000)
  expect(prompts.filter(text => text === REMINDER).length).toBe(1)
})

test('k-i3: a prompt at the same moment wins', async ($, on) => {
  const { clock, prompts } = session(on, PROMPT, () => $.prompt.submit({ text: 'now', wait: false, origin: { kind: 'composer' } } as never))

  await begun($)
  await turn($)
  await clock.advance(1_800_000)
  expect(prompts).toEqual(['go', 'now'])
})

test('k-i3: nothing is due while a turn runs, however long it takes', async ($, on) => {
  const { clock, prompts } = session(on, PROMPT)

  await begun($)
  await turn($)
  await $.turn.start({ text: 'queued before', turnId: 'q' })
  await clock.advance(7_200_000)
  expect(prompts).toEqual(['go'])
})

test('k-i6: a continuation of ours in ordinary work ends in a period of its own', async ($, on) => {
  const { clock, prompts } = session(on, PROMPT)

  await begun($)
  await turn($)
  await turn($, 'go on', OURS)
  await clock.advance(1_800_000)
  expect(prompts).toEqual(['go', 'go on', REMINDER])
})

test('by default the person gets a line and the model nothing', async ($, on) => {
  const { clock, prompts, lines } = session(on, { mode: 'notice', seconds: 60 })

  await begun($)
  await turn($)
  await clock.advance(60_000)
  expect(prompts).toEqual(['go'])
  expect(lines).toEqual([NOTICE])
})

test('off is off', async ($, on) => {
  const { clock, prompts, lines, asked } = session(on, { mode: 'off', seconds: 60 })

  await begun($)
  await turn($)
  await clock.advance(7_200_000)
  expect(prompts).toEqual(['go'])
  expect(lines).toEqual([])
  expect(asked).toEqual(['hello'])
})

for (const seconds of [0, -5, Number.NaN, 'soon']) {
  test(`k-i9: ${seconds} seconds are none, so the default holds`, async ($, on) => {
    const { clock, lines } = session(on, { mode: 'notice', seconds })

    await begun($)
    await turn($)
    await clock.advance(1_799_000)
    expect(lines).toEqual([])
    await clock.advance(1_000)
    expect(lines).toEqual([NOTICE])
  })
}

test('a subagent that ends leaves the main conversation at work', async ($, on) => {
  const { clock, prompts } = session(on, PROMPT)

  await begun($)
  await $.prompt.submit({ text: 'go', wait: false, origin: { kind: 'composer' } } as never)
  await $.turn.start({ text: 'go', turnId: 't' })
  await $.turn.complete({ turnId: 'a', agentId: 'agent', reason: 'answer', answer: '', text: '' } as never)
  await clock.advance(7_200_000)
  expect(prompts).toEqual(['go'])
})
