import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

step(
  'Course.Plan',
  {
    description: 'Lists the courses that a student has to take before a course, in order.',
    input: object({
      goal: string(),
      courses: array(object({ code: string(), credits: integer({ minimum: 0, maximum: 60 }), needs: array(string()) })),
    }),
    output: object({ order: array(string()), credits: integer() }),
  },
  ({ goal, courses }) => {
    const byCode = new Map(courses.map((course) => [course.code, course]));
    const order = [];
    const done = new Set();
    let credits = 0;

    const take = (code) => {
      if (done.has(code)) return;
      const course = byCode.get(code);
      if (course === undefined) throw new Failure('INVALID_INPUT', `there is no course ${code}`);
      for (const needed of course.needs) take(needed);
      done.add(code);
      order.push(code);
      credits += course.credits;
    };
    take(goal);
    return { order, credits };
  },
);
