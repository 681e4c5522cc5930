/* SPDX-License-Identifier: MIT */
/* Requests that the record counts and does not list. */
#include "verdict/judge.h"

#include <inttypes.h>

int64_t success_count(const struct judge *judge)
{
	int64_t counted = done_count(judge->evidence);
	return counted > judge->succeeded ? counted : judge->succeeded;
}

static int64_t count_of(struct num count)
{
	return count.known && count.value > 0 ? count.value : 0;
}

/* Those that are listed and those that are not were all posted. */
struct num posted_count(const struct evidence *evidence)
{
	if (evidence->operations_posted.known || count_of(evidence->operations_omitted) == 0)
		return evidence->operations_posted;
	return num(difference(evidence->operations.count, -evidence->operations_omitted.value));
}

/* Every request that is not done with is counted: then those without an end are known, though not listed. */
static int64_t unended(const struct judge *judge)
{
	const struct evidence *evidence = judge->evidence;
	struct num every = judge->request->signal_every;
	bool reclaims = evidence->operations_reclaimed.known, skips = every.known && every.value > 1;
	struct num posted = posted_count(evidence);
	if (!posted.known || !evidence->operations_completed.known || (skips && !reclaims))
		return 0;
	list_each(operation, &evidence->operations)
		if (asks_for_completion(judge, operation) != FLAG_YES && !reclaims)
			return 0;
	int64_t right = 0, ended = success_count(judge);
	list_each(of_size, &evidence->payloads)
		right = difference(right, -count_of(of_size->right));
	ended = difference(difference(ended, -count_of(evidence->operations_failed)), -count_of(evidence->flushes));
	ended = right > ended ? right : ended;
	return difference(posted.value, ended);
}

bool all_ended_well(const struct judge *judge)
{
	return judge->posted && judge->succeeded == judge->posted && unended(judge) <= 0 &&
	       !count_of(judge->evidence->operations_failed) && !count_of(judge->evidence->flushes);
}

/* By their own count, which a process that did not come to its end left at 0, or because more were posted than are
 * listed. */
int64_t omitted_count(const struct evidence *evidence)
{
	struct num posted = evidence->operations_posted;
	int64_t counted = count_of(evidence->operations_omitted);
	int64_t more = posted.known ? difference(posted.value, evidence->operations.count) : 0;
	return counted > more || counted > 0 || more < 0 ? counted : more;
}

bool rule_unlisted(struct judge *judge)
{
	const struct evidence *evidence = judge->evidence;
	if (judge->pending || judge->failed || judge->flushed || !omitted_count(evidence) ||
	        evidence->interrupted == FLAG_YES)
		return false;
	/* One that hung did not come to counting what it left out. */
	if (judge->contradiction && !evidence->stuck)
		return false;
	int64_t failed = difference(count_of(evidence->operations_failed), -count_of(evidence->flushes));
	int64_t waiting = unended(judge);
	if (failed <= 0 && waiting <= 0)
		return false;
	because(judge, "%" PRId64 " operation%s completed successfully", success_count(judge),
	        plural(success_count(judge)));
	tell_events(judge);
	tell_counters(judge);
	tell_gaps(judge, NULL);
	if (failed > 0) {
		because(judge, "%" PRId64 " failed or %s flushed, and the record lists none of them", failed,
		        failed == 1 ? "was" : "were");
		summarize(judge, "requests failed that the record does not list");
	} else {
		because(judge, "%" PRId64 " more %s posted and not seen to end, and the record lists none of them",
		        waiting, waiting == 1 ? "was" : "were");
		summarize(judge, "requests that the record does not list have no end");
	}
	next_step(judge, "run the probe again and keep the whole document (-j)");
	return undetermined(
	        judge, failed > 0 ? OUTCOME_FAILED : OUTCOME_STALLED, WHOLE_PATH | L(APPLICATION) | L(KERNEL));
}

/* Nothing is listed, and the counts say that all went well. */
bool judge_counted(struct judge *judge)
{
	const struct evidence *evidence = judge->evidence;
	bool clean = !count_of(evidence->operations_failed) && !count_of(evidence->flushes) &&
	             count_of(evidence->operations_posted) && !judge->contradiction;
	if (evidence->operations.count || !clean || judge->control ||
	        done_count(evidence) != evidence->operations_posted.value)
		return false;
	because(judge, "%" PRId64 " operation%s completed successfully", success_count(judge),
	        plural(success_count(judge)));
	not_observed(judge, "the operations themselves: the record counts them and lists none");
	summarize(judge, "by its counts all operations succeeded; the record lists none of them");
	return likely(judge, OUTCOME_OK, LAYER_NONE, 0);
}
