import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { Host } from '../../../guest-sdk/js/testing.js';
import '../src/plugin.js';

const cv = readFileSync(new URL('../../funding-outreach/data/cv.md', import.meta.url), 'utf8');
const professor = {
  name: 'Prof. Dr. Ingrid Solheim',
  email: 'ingrid.solheim@fjell.example.org',
  interests: ['snowmelt modelling', 'medieval music'],
  summary: ['We combine field measurements with snowmelt models.'],
  publications: [{ title: 'Assimilation of satellite snow cover into a snowmelt model of small basins', year: 2026 }],
  openings: ['We have an open doctoral position.'],
};

const host = new Host({ tools: { 'File.Read': () => ({ text: cv, sha256: 'AB' }) } });
const alignment = host.run('Alignment.Build', { professor, cv: { path: '/data/cv.md', sha256: 'ab' } });

test('overlaps come with evidence of both sides', () => {
  assert.equal(alignment.applicant.name, 'Mira Castellan');
  assert.equal(alignment.overlaps[0].interest, 'snowmelt modelling');
  assert.match(alignment.overlaps[0].applicant_evidence, /^Built a snowmelt model .* \(master's thesis, 2026\)\.$/);
  assert.equal(alignment.overlaps[0].professor_evidence, professor.publications[0].title);
  assert.deepEqual(alignment.gaps, ['medieval music']);
});

test('a letter says who writes, why, and what is asked for', () => {
  const draft = host.run('Email.GenerateDraft', { professor, alignment, position: 'a doctoral position' });
  assert.equal(draft.to, professor.email);
  assert.match(draft.body, /^Dear Professor Solheim,\n\nmy name is Mira Castellan, an? MSc student/);
  assert.match(draft.body, /Kind regards,\nMira Castellan\n$/);
  assert.equal(host.events[0][0], 'draft-ready');
});

test('without anything in common there is no letter', () => {
  const nothing = { ...alignment, overlaps: [] };
  assert.throws(() => host.run('Email.GenerateDraft', { professor, alignment: nothing }), { code: 'MISSING_REQUIRED_CONTEXT' });
});
