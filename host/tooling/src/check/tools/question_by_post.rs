//! Requests that only ask, although their method is POST.

/// Parts of the paths of requests that usually change nothing, although their method is POST.
const QUESTIONS: [&str; 16] = [
    "token",
    "oauth",
    "login",
    "signin",
    "session",
    "authenticat",
    "search",
    "query",
    "graphql",
    "lookup",
    "valid",
    "preview",
    "quote",
    "estimate",
    "calculat",
    "availab",
];

/// Returns true if requests with this method may change the state of a server.
pub(super) fn is_changing(method: &str) -> bool {
    !matches!(method, "GET" | "HEAD" | "OPTIONS")
}

/// Returns true if a request with this method and URL usually only asks, although its method is POST.
pub(super) fn is_question_by_post(method: &str, url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.find('/').map_or("", |at| &rest[at..]).to_lowercase();
    method.eq_ignore_ascii_case("POST") && QUESTIONS.iter().any(|part| path.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_by_post_are_distinguished_from_changes() {
        assert!(
            is_question_by_post("POST", "https://a.example/OAuth/token") && is_question_by_post("post", "a/v1/search")
        );
        assert!(!is_question_by_post("PUT", "https://a.example/search"));
        assert!(!is_question_by_post("POST", "https://search.example/orders"));
        assert!(!is_question_by_post("POST", "https://search.example"));
    }
}
