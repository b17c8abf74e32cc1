// A chain of n equal rods on ball joints, and nothing else: one recursion from the tip to the support and back, in world axes.
//
// x : unit quaternions of the rods (scalar first), then their angular velocities in body axes. With r from a rod's upper end to
// its centre, a the acceleration of that end, c = w x (w x r), the rods below it pull its lower end by A a_low + b:
//
//     alpha = p + Q a,  K = J + [r]^T (m + 4 A) [r],  Q = -K^-1 [r] (m + 2 A),
//     p = K^-1 (-w x J w - r x (m (c - g) + 4 A c + 2 b)),
//     A <- m + A - (m + 2 A) [r] Q,   b <- m (c - g) + 2 A c + b - (m + 2 A) [r] p,   a_low = a + 2 alpha x r + 2 c
#include "dop853.hpp"

struct Vec { double x, y, z; };
struct Sym { double xx, xy, xz, yy, yz, zz; };
struct Mat { Vec a, b, c; };  // rows

static inline Vec operator+(Vec u, Vec v) { return {u.x + v.x, u.y + v.y, u.z + v.z}; }
static inline Vec operator-(Vec u, Vec v) { return {u.x - v.x, u.y - v.y, u.z - v.z}; }
static inline Vec operator*(double s, Vec v) { return {s * v.x, s * v.y, s * v.z}; }
static inline double dot(Vec u, Vec v) { return u.x * v.x + u.y * v.y + u.z * v.z; }
static inline Vec cross(Vec u, Vec v) { return {u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x}; }
static inline Vec operator*(const Sym & S, Vec v) {
    return {S.xx * v.x + S.xy * v.y + S.xz * v.z, S.xy * v.x + S.yy * v.y + S.yz * v.z, S.xz * v.x + S.yz * v.y + S.zz * v.z};
}
static inline Vec operator*(const Mat & M, Vec v) { return {dot(M.a, v), dot(M.b, v), dot(M.c, v)}; }
static inline Sym inverse(const Sym & S) {
    double a = S.yy * S.zz - S.yz * S.yz, b = S.xz * S.yz - S.xy * S.zz, c = S.xy * S.yz - S.xz * S.yy;
    double f = 1.0 / (S.xx * a + S.xy * b + S.xz * c);
    return {f * a, f * b, f * c, f * (S.xx * S.zz - S.xz * S.xz), f * (S.xy * S.xz - S.xx * S.yz), f * (S.xx * S.yy - S.xy * S.xy)};
}
static inline Sym plus(const Sym & S, double s, double m) {  // s S + m
    return {s * S.xx + m, s * S.xy, s * S.xz, s * S.yy + m, s * S.yz, s * S.zz + m};
}

struct Chain {
    int n;
    double mass, half, across, axial, gravity;
    long count = 0;
    struct Link { Mat R; Mat Q; Vec p, r, c; };
    std::vector<Link> links;

    void rate(const double * x, double * dx) {
        Sym A{0, 0, 0, 0, 0, 0};
        Vec b{0, 0, 0};
        const Vec g{0, 0, -gravity};
        for (int k = n - 1; k >= 0; --k) {
            Link & link = links[k];
            const double *e = x + 4 * k, *v = x + 4 * n + 3 * k;
            const double s = 2.0 / (e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);
            const double xx = s * e[1] * e[1], yy = s * e[2] * e[2], zz = s * e[3] * e[3], xy = s * e[1] * e[2], xz = s * e[1] * e[3];
            const double yz = s * e[2] * e[3], wx = s * e[0] * e[1], wy = s * e[0] * e[2], wz = s * e[0] * e[3];
            link.R = {{1 - yy - zz, xy - wz, xz + wy}, {xy + wz, 1 - xx - zz, yz - wx}, {xz - wy, yz + wx, 1 - xx - yy}};
            const Vec z{link.R.a.z, link.R.b.z, link.R.c.z}, w = link.R * Vec{v[0], v[1], v[2]};
            const Vec r = -half * z, c = cross(w, cross(w, r)), spin = across * w + (axial - across) * dot(z, w) * z;
            const Sym B = plus(A, 4.0, mass), C = plus(A, 2.0, mass);
            const double d = axial - across;
            // columns of B [r], then K = J - [r] B [r]
            const Vec one = B * Vec{0, r.z, -r.y}, two = B * Vec{-r.z, 0, r.x}, three = B * Vec{r.y, -r.x, 0};
            const Vec k1 = cross(r, one), k2 = cross(r, two), k3 = cross(r, three);
            const Sym K{across + d * z.x * z.x - k1.x, d * z.x * z.y - k2.x, d * z.x * z.z - k3.x,
                        across + d * z.y * z.y - k2.y, d * z.y * z.z - k3.y, across + d * z.z * z.z - k3.z};
            const Sym inv = inverse(K);
            const Vec load = mass * (c - g), bent = A * c;
            link.p = inv * (Vec{0, 0, 0} - cross(w, spin) - cross(r, load + 4.0 * bent + 2.0 * b));
            // columns of Q = -K^-1 [r] C
            const Vec q1 = inv * cross({C.xx, C.xy, C.xz}, r), q2 = inv * cross({C.xy, C.yy, C.yz}, r), q3 = inv * cross({C.xz, C.yz, C.zz}, r);
            link.Q = {{q1.x, q2.x, q3.x}, {q1.y, q2.y, q3.y}, {q1.z, q2.z, q3.z}};
            link.r = r;
            link.c = c;
            b = load + 2.0 * bent + b + C * cross(link.p, r);
            const Vec a1 = C * cross(q1, r), a2 = C * cross(q2, r), a3 = C * cross(q3, r);
            A = {mass + A.xx + a1.x, A.xy + a2.x, A.xz + a3.x, mass + A.yy + a2.y, A.yz + a3.y, mass + A.zz + a3.z};
        }
        Vec a{0, 0, 0};
        for (int k = 0; k < n; ++k) {
            const Link & link = links[k];
            const Vec alpha = link.p + link.Q * a;
            a = a + 2.0 * (cross(alpha, link.r) + link.c);
            const double *e = x + 4 * k, *v = x + 4 * n + 3 * k;
            double *de = dx + 4 * k, *dv = dx + 4 * n + 3 * k;
            de[0] = -0.5 * (e[1] * v[0] + e[2] * v[1] + e[3] * v[2]);
            de[1] = 0.5 * (e[0] * v[0] + e[2] * v[2] - e[3] * v[1]);
            de[2] = 0.5 * (e[0] * v[1] + e[3] * v[0] - e[1] * v[2]);
            de[3] = 0.5 * (e[0] * v[2] + e[1] * v[1] - e[2] * v[0]);
            dv[0] = link.R.a.x * alpha.x + link.R.b.x * alpha.y + link.R.c.x * alpha.z;
            dv[1] = link.R.a.y * alpha.x + link.R.b.y * alpha.y + link.R.c.y * alpha.z;
            dv[2] = link.R.a.z * alpha.x + link.R.b.z * alpha.y + link.R.c.z * alpha.z;
        }
        ++count;
    }
};

// x : the start, then the end;  count : evaluations
extern "C" void chain(int n, double mass, double length, double across, double axial, double gravity, double t_end, double tol,
                      const double * a, const double * c, const double * e, double * x, long * count) {
    Chain system{n, mass, 0.5 * length, across, axial, gravity, 0, std::vector<Chain::Link>(n)};
    std::vector<double> state(x, x + 7 * n);
    dop853(system, state, t_end, tol, a, c, e);
    std::copy(state.begin(), state.end(), x);
    *count = system.count;
}
