import { seed } from '../../support/random.js';
import type { Chance } from '../chance.js';
import { Quorum } from '../quorum/quorum.js';
import type { Served } from '../served.js';
import { pause } from './line.js';
import { Tail } from './log.js';
import { type Harm, operatorManifest } from './record.js';
import { historySuite, secondsOr } from './suite.js';

const seconds = secondsOr(40);

/** What may become of members, of replicas and of what is between them. */
function harmsOf(quorum: Quorum): readonly Harm[] {
  const anyone = (chance: Chance): Served => quorum.replicas[chance.between(0, 1)]!;
  return [
    {
      what: 'the leader killed',
      do: async (chance) => {
        const leader = await quorum.leader();
        await quorum.members[leader]!.kill();
        await pause(chance.between(500, 3_000));
        await quorum.members[leader]!.restart();
      },
    },
    {
      what: 'all members killed',
      do: async (chance) => {
        await Promise.all(quorum.members.map((member) => member.kill()));
        await pause(chance.between(0, 1_500));
        await Promise.all(quorum.members.map((member) => member.restart()));
      },
    },
    {
      what: 'a replica killed',
      do: async (chance) => {
        const one = anyone(chance);
        one.kill();
        await one.up();
      },
    },
    {
      what: 'a replica paused',
      do: async (chance) => {
        const one = anyone(chance);
        one.pause();
        await pause(chance.between(1_500, 4_000));
        one.resume();
      },
    },
    {
      what: 'a member cut off',
      do: async (chance) => {
        quorum.isolate(chance.between(0, 2), chance.next() < 0.5 ? 'whole' : 'one-way');
        await pause(chance.between(1_500, 4_000));
        quorum.mend();
      },
    },
    {
      what: 'a replica cut from etcd',
      do: async (chance) => {
        const lines = quorum.lines(chance.between(0, 1));
        for (const line of lines) line.hole();
        await pause(chance.between(1_500, 4_000));
        for (const line of lines) {
          line.reset();
          line.mend();
        }
      },
    },
    {
      what: 'history compacted five times a second',
      do: async (chance) => {
        for (let i = chance.between(5, 15); i > 0; i -= 1) {
          await quorum.compact();
          await pause(200);
        }
      },
    },
  ];
}

historySuite('etcd', seconds, async () => {
  const quorum = await Quorum.start({ manifest: operatorManifest });
  const tail = await Tail.begin(quorum.members.map(({ endpoint }) => endpoint)).catch(
    async (error: unknown) => {
      await quorum.end();
      throw error;
    },
  );
  const end = async (): Promise<void> => {
    await tail.end();
    await quorum.end();
  };
  return {
    end,
    plan: {
      seed,
      seconds,
      places: quorum.replicas,
      harms: harmsOf(quorum),
      about: `two replicas on three members, ${quorum.about}`,
      log: (from, to) => tail.between(from, to),
    },
  };
});
